// model/mutation_ops.h: iterates over the changes in a RowMutation.
//
// Used by:   mutation/check.cc and write/write_steps.cc read the changes of a RowMutation with it.
// Format:    in memory only, never stored: a header with lengths, then the bytes; see mutation.cc.
// Errors:    none, since only RowMutation writes the bytes. For bytes that it cannot parse Next()
//            returns false, as at the end.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/coding.h"

namespace stele::internal {

// Views point into the mutation. Timestamps and ranges are as given and not validated yet.
struct MutationOp {
  enum class Kind : uint8_t {
    kSetCell,
    kAddInt,
    kAddItem,
    kMerge,
    kDeleteFromColumn,
    kDeleteFromFamily,
    kDeleteFromRow
  };

  Kind kind = Kind::kSetCell;
  bool server_time = false;  // kSetCell: no timestamp was given; `timestamp` is 0 then
  std::string_view family;
  std::string_view qualifier;
  std::string_view value;            // kSetCell; kAddItem: the item; kMerge: the state
  int64_t timestamp = 0;             // micros; kSetCell, kAddInt, kAddItem, kMerge
  int64_t amount = 0;                // kAddInt
  int64_t range_start = 0;           // kDeleteFromColumn, micros
  std::optional<int64_t> range_end;  // kDeleteFromColumn, micros; none: unbounded
};

class MutationOpReader {
 public:
  explicit MutationOpReader(std::string_view encoded_ops) : reader_(encoded_ops) {}

  // Sets all of `op`. Returns false at the end.
  bool Next(MutationOp* op);

 private:
  ByteReader reader_;
};

}  // namespace stele::internal
