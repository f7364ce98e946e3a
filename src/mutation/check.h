// mutation/check.h: from what a user wrote down to what a commit logs: a RowMutation, judged against a table's schema, as operations.
//
// Path:      Table::Apply and its kin -> here -> BatchWriter -> commit queue; BulkLoad::Add -> here -> sstable builder.
// Units:     timestamps in microseconds.
// Errors:    InvalidArgument, NotFound for a family; the text names the row, the element (its
//            index from 0) and what is allowed. What is wrong in itself is reported before what does not fit the schema. An error leaves
//            the batch as it was.
// Threads:   pure functions.
// Source:    google.bigtable.v2.Mutation; docs/data-model.md lists the differences.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cell/cell.h"
#include "cell/family_list.h"
#include "mutation/batch.h"
#include "stele/mutation.h"
#include "stele/schema.h"

namespace stele::internal {

// What of a table's schema a mutation is judged by.
struct MutationSchema {
  uint32_t table_id = 0;
  const FamilyList* families = nullptr;
  Limits limits;
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  std::span<const FamilySchema> family_schemas;  // by rank - 1
};

// `row_key` stands for the mutation's own, which a branch of a conditional write may leave empty.
absl::Status CheckMutation(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema);

// The part of it that needs no families: what is wrong with the mutation whatever the table's are.
absl::Status CheckForm(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema);

// What a cell without a timestamp gets.
int64_t CutToGranularity(int64_t now_micros, TimestampGranularity granularity);

// Checks, then adds a row to `batch`: `first` (seals of engine rule 8), then the mutation's changes. Cells without a timestamp get
// `now_micros`, cut to the granularity.
absl::Status AppendMutation(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema, int64_t now_micros,
                            BatchWriter* batch, std::span<const BatchOp> first = {});
inline absl::Status AppendMutation(const RowMutation& mutation, const MutationSchema& schema, int64_t now_micros, BatchWriter* batch,
                                   std::span<const BatchOp> first = {}) {
  return AppendMutation(mutation.row_key(), mutation, schema, now_micros, batch, first);
}

// For a bulk load: checks, then sets `cells` to what the mutation leaves of its row, in the order of cell/cell.h, families by their rank in
// `schema`; of two of one identity the later. They point into the mutation. SetCell alone is taken, in any number.
absl::Status ReadSetCells(const RowMutation& mutation, const MutationSchema& schema, int64_t now_micros, std::vector<Cell>* cells);

struct ColumnRef {
  uint32_t family_rank = kRowRank;  // in MutationSchema.families
  std::string_view qualifier;       // points into the mutation
  friend auto operator<=>(const ColumnRef&, const ColumnRef&) = default;
};

// The columns that a checked mutation deletes from with a start above 0, each once, in order: engine rule 8 seals them where the family's
// rule counts versions.
std::vector<ColumnRef> RangedDeletes(const RowMutation& mutation, const MutationSchema& schema);

}  // namespace stele::internal
