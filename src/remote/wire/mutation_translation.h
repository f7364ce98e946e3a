// remote/wire/mutation_translation.h: converts row mutations between the protocol buffers and the
// library's types.
//
// Everything that can be checked without the families is checked here, with Bigtable's messages and
// positions. A MutateRows with an invalid entry is rejected as a whole before any of it is applied.
//
// Errors:    InvalidArgument; FailedPrecondition for an old token.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/data.pb.h"
#include "remote/wire/plain_entries.h"
#include "stele/mutation.h"
#include "stele/schema.h"

namespace stele::internal {

// The type of an hll family's items in requests. The library counts distinct byte strings; a number
// is its eight bytes, big-endian.
enum class HllInput : uint8_t { kBytes, kInt64, kString };

// The limits for a table's mutations. Granularity and limits are fixed when it is created.
struct TableTraits {
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  TableLimits limits = {};
  // Null: there are none.
  std::shared_ptr<const std::map<std::string, HllInput, std::less<>>> hll_families = nullptr;
};

using Mutations = google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>;
using Rules = google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>;

absl::Status CheckRowKey(std::string_view row_key, const TableTraits& traits);

// Converts the changes of a row, of which there may be none. Does not check `row_key`, which is ""
// for a branch of a CheckAndMutateRow.
absl::StatusOr<RowMutation> ToChanges(std::string row_key, const Mutations& mutations,
                                      const TableTraits& traits);

// Converts the changes of a row, of which there must be at least one.
absl::StatusOr<RowMutation> ToRowMutation(const std::string& row_key, const Mutations& mutations,
                                          const TableTraits& traits);
// Like the other ToRowMutation, for cells that were parsed in place.
absl::StatusOr<RowMutation> ToRowMutation(std::string_view row_key,
                                          std::span<const SetCellView> cells,
                                          const TableTraits& traits);

// Requires at least one rule.
absl::StatusOr<std::vector<ReadModifyWriteRule>> ToRules(const Rules& rules,
                                                         const TableTraits& traits);

// Returns "" if there is no token. A token has at least 8 bytes. Returns FailedPrecondition if the
// token is older than the time for which a database remembers tokens: it is unknown then whether
// the write was applied.
absl::StatusOr<std::string> ToToken(const google::bigtable::v2::Idempotency& idempotency,
                                    int64_t now_micros);

// Appends the changes, which CheckForm (mutation/check.h) must accept, to `out`. Cells without a
// timestamp get `now_micros`, marked as the client library's clock.
void AddToWire(const RowMutation& mutation, int64_t now_micros, Mutations* out);
void AddToWire(const ReadModifyWriteRule& rule, Rules* out);

// True if applying the mutation twice is the same as applying it once, provided that all cells have
// timestamps. False for a change that adds to a cell, unless the change before it deletes that
// cell.
bool IsIdempotent(const RowMutation& mutation);

}  // namespace stele::internal
