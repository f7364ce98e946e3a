// stele/mutation.h: changes of rows.
//
// Errors:    builders never fail; what is wrong in a mutation is an error of the call that applies it, and then nothing of it is applied.
// Threads:   values, thread-compatible.
// Source:    google.bigtable.v2.Mutation, ReadModifyWriteRule, MutateRowsResponse.Entry, SampleRowKeysResponse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "stele/timestamp.h"

namespace stele {
namespace internal {
class TableBackend;
}
inline namespace v0 {

class Table;

// Changes of one row, applied in the order in which they were added, all or nothing: a later change overrides an earlier one, and a
// delete removes what lies before it, never what comes after. Owns all its bytes. Chainable:
//   RowMutation("row").DeleteFromFamily("cf").SetCell("cf", "q", "value")
//
// Errors when applied: an empty or too long row key, no change at all, a limit of the table passed (see Limits), a timestamp that is
// negative or does not fit the table's granularity, or a cell's kind that does not fit its family: InvalidArgument. An unknown family:
// NotFound.
// A mutation that was moved from may only be assigned to or destroyed.
class RowMutation {
 public:
  explicit RowMutation(std::string row_key = "") : row_key_(std::move(row_key)) {}

  const std::string& row_key() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return row_key_; }

  // Sets a cell, replacing the one of the same timestamp. Without a timestamp: now, by the database's clock, cut to the table's
  // granularity; all such cells of one call get the same.
  RowMutation& SetCell(std::string_view family, std::string_view qualifier, std::string_view value);
  RowMutation& SetCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view value);

  // Aggregate families only. Adds a number to a sum, min or max; an item to an hll; folds a state, as read from a cell (eight bytes
  // big-endian, or a sketch), into another; a state of no bytes changes nothing. They need no reading. A delete takes what was added before
  // it. Repeating one of these counts twice, unless under a token: see WriteOptions.idempotency_token.
  RowMutation& AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, int64_t value);
  RowMutation& AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view item);
  RowMutation& MergeToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp, std::string_view state);

  // All versions of a column; or those in `range`, which must not be empty.
  RowMutation& DeleteFromColumn(std::string_view family, std::string_view qualifier);
  RowMutation& DeleteFromColumn(std::string_view family, std::string_view qualifier, TimestampRange range);
  RowMutation& DeleteFromFamily(std::string_view family);
  RowMutation& DeleteFromRow();

  // Makes room ahead for `count` more changes whose names and values have `bytes` bytes together, so that adding them allocates once.
  RowMutation& Reserve(size_t count, size_t bytes);

  // How many changes were added.
  size_t count() const { return count_; }
  // For the engine: the changes in a form of its own.
  std::string_view encoded_ops() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return ops_; }
  // For the engine: whether one of the changes deletes a range of a column's versions.
  bool deletes_ranges() const { return deletes_ranges_; }

 private:
  std::string row_key_;
  std::string ops_;
  size_t count_ = 0;
  bool deletes_ranges_ = false;
};

// Changes of many rows, of one or several tables of one database, applied in order and all or nothing by Database::Apply. One row may
// come twice. An empty batch is fine. Errors when applied: a table of another database is InvalidArgument, an empty Table handle
// FailedPrecondition, otherwise as for RowMutation.
class WriteBatch {
 public:
  struct Entry {
    std::shared_ptr<internal::TableBackend> table;  // null for an empty handle
    RowMutation mutation;
  };

  // Keeps the table, and so its database, open.
  WriteBatch& Add(const Table& table, RowMutation mutation);

  size_t size() const { return entries_.size(); }
  // For the engine.
  const std::vector<Entry>& entries() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// One step of Table::ReadModifyWriteRow, on the newest cell of a column.
class ReadModifyWriteRule {
 public:
  enum class Kind : uint8_t { kAppendValue, kIncrementAmount };

  // Appends to the value; a column without a cell counts as "".
  static ReadModifyWriteRule AppendValue(std::string family, std::string qualifier, std::string value);
  // Adds to a value of eight bytes big-endian (EncodeInt64), wrapping; a column without a cell counts as 0. A value of another length is
  // FailedPrecondition.
  static ReadModifyWriteRule IncrementAmount(std::string family, std::string qualifier, int64_t amount);

  Kind kind() const { return kind_; }
  const std::string& family() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_; }
  const std::string& qualifier() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return qualifier_; }
  // What is appended; empty for an increment.
  const std::string& value() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  // What is added; 0 for an append.
  int64_t amount() const { return amount_; }

 private:
  ReadModifyWriteRule(Kind kind, std::string family, std::string qualifier, std::string value, int64_t amount)
      : kind_(kind), family_(std::move(family)), qualifier_(std::move(qualifier)), value_(std::move(value)), amount_(amount) {}

  Kind kind_;
  std::string family_;
  std::string qualifier_;
  std::string value_;
  int64_t amount_;
};

// Which of CheckAndMutateRow's two mutations was applied.
enum class MutationBranch : uint8_t { kPredicateMatched, kPredicateNotMatched };

// An entry of BulkApply that was not applied. `index` counts from 0 in the span that was given.
struct FailedMutation {
  size_t index = 0;
  absl::Status status = {};
};

// A row key that need not exist, and about how many bytes are stored before it. See Table::SampleRowKeys.
struct RowKeySample {
  std::string row_key = {};
  uint64_t offset_bytes = 0;

  friend bool operator==(const RowKeySample&, const RowKeySample&) = default;
};

}  // namespace v0
}  // namespace stele
