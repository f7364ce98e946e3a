// mutation/check.h: checks a RowMutation against a table's schema, and converts it to the
// operations that a commit logs.
//
// Used by:   write/write_steps.cc, for all writes; write/gc_fence.cc, admin/bulk_load.cc.
// Calls:     mutation/batch.h (BatchWriter).
// Units:     timestamps in microseconds.
// Errors:    InvalidArgument, or NotFound for a family. The message names the row, the element (its
//            index from 0) and what is allowed. Errors of the mutation's form are reported before
//            errors against the schema. An error leaves the batch unchanged.
// Threads:   pure functions.
// Source:    google.bigtable.v2.Mutation; docs/guide/data-model.md lists the differences.
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

// The parts of a table's schema that mutations are checked against.
struct MutationSchema {
  uint32_t table_id = 0;
  const FamilyList* families = nullptr;
  TableLimits limits;
  TimestampGranularity granularity = TimestampGranularity::kMillis;
  std::span<const FamilySchema> family_schemas;  // by family index - 1
};

// `row_key` replaces the mutation's row key, which a branch of a conditional write may leave empty.
absl::Status CheckMutation(std::string_view row_key, const RowMutation& mutation,
                           const MutationSchema& schema);

// The checks that do not need the families.
absl::Status CheckForm(std::string_view row_key, const RowMutation& mutation,
                       const MutationSchema& schema);

// The timestamp for a cell without one.
int64_t CutToGranularity(int64_t now_micros, TimestampGranularity granularity);

// Checks the mutation, then adds a row with its changes to `batch`. Cells without a timestamp get
// `now_micros`, cut to the granularity.
absl::Status AppendMutation(std::string_view row_key, const RowMutation& mutation,
                            const MutationSchema& schema, int64_t now_micros, BatchWriter* batch);
inline absl::Status AppendMutation(const RowMutation& mutation, const MutationSchema& schema,
                                   int64_t now_micros, BatchWriter* batch) {
  return AppendMutation(mutation.row_key(), mutation, schema, now_micros, batch);
}

// For a bulk load: checks the mutation, then sets `cells` to the resulting cells of its row, in the
// order of cell/cell.h; families are indexes in `schema`. If two cells have one cell key, the later
// one is kept. The cells point into the mutation. Only SetCell is allowed, any number of times.
absl::Status ReadSetCells(const RowMutation& mutation, const MutationSchema& schema,
                          int64_t now_micros, std::vector<Cell>* cells);

struct ColumnRef {
  uint32_t family_index = kRowFamily;  // in MutationSchema.families
  std::string_view qualifier;          // points into the mutation
  friend auto operator<=>(const ColumnRef&, const ColumnRef&) = default;
};

// Returns the columns from which a checked mutation deletes a range that starts above 0, each once,
// in order. Engine rule 8 requires GC fences for them if the family's rule counts versions.
std::vector<ColumnRef> RangedDeletes(const RowMutation& mutation, const MutationSchema& schema);

}  // namespace stele::internal
