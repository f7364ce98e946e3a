// wire/mutation_translation.h: changes of rows, from the wire's form to the library's and back.
//
// Everything that can be said without the families is checked here, with Bigtable's texts and positions: a MutateRows with a wrong entry is
// refused as a whole, before anything of it is applied.
//
// Errors:    InvalidArgument.
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
#include "stele/mutation.h"
#include "stele/schema.h"
#include "wire/data.pb.h"
#include "wire/plain_entries.h"

namespace stele::internal {

// What the items of an hll family are on the wire. The library counts distinct bytes: those of a number are its eight, big-endian.
enum class HllInput : uint8_t { kBytes, kInt64, kString };

// What a table takes. Granularity and limits are fixed when it is created.
struct TableTraits {
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  Limits limits = {};
  std::shared_ptr<const std::map<std::string, HllInput, std::less<>>> hll_families = nullptr;  // null: none
};

using Mutations = google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>;
using Rules = google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>;

absl::Status CheckRowKey(std::string_view row_key, const TableTraits& traits);

// Without a row key: to be a branch of a CheckAndMutateRow, or part of what ToRowMutation makes. May be empty.
absl::StatusOr<RowMutation> ToChanges(std::string row_key, const Mutations& mutations, const TableTraits& traits);

// At least one change. The result may have none: folding nothing into an aggregate changes nothing.
absl::StatusOr<RowMutation> ToRowMutation(const std::string& row_key, const Mutations& mutations, const TableTraits& traits);
// The same of what was read in place.
absl::StatusOr<RowMutation> ToRowMutation(std::string_view row_key, std::span<const SetCellView> cells, const TableTraits& traits);

// At least one rule.
absl::StatusOr<std::vector<ReadModifyWriteRule>> ToRules(const Rules& rules, const TableTraits& traits);

// "" where there is none. At least 8 bytes. FailedPrecondition if it is from before what a database remembers: the write may have been
// applied under it, and nobody knows.
absl::StatusOr<std::string> ToToken(const google::bigtable::v2::Idempotency& idempotency, int64_t now_micros);

// Of changes that CheckForm (mutation/check.h) passes. Cells without a timestamp get `now_micros`, told apart as a client's own.
void AddToWire(const RowMutation& mutation, int64_t now_micros, Mutations* out);
void AddToWire(const ReadModifyWriteRule& rule, Rules* out);

// Whether applying it twice is the same as applying it once, when cells without a timestamp have got one. Of what adds to a cell it is not,
// unless the change right before it deletes that cell.
bool IsIdempotent(const RowMutation& mutation);

}  // namespace stele::internal
