// db/conditional_writes.h: writes that depend on how a row stands: CheckAndMutateRow and ReadModifyWriteRow.
//
// Path:      local_table -> here -> read_path (the row as it stands) -> write_attempt -> committer, which refuses the batch if the row was
//            written since it was read (engine rule 5); then all is done anew.
// Order:     linearizable with every other write of the row. Latches by row keep conditional writers of one row from refusing each other.
// Cost:      a check whose predicate looks at one column reads what settles that column (merge/sole_column.h), mostly memory alone.
// Reads:     as with ReadOptions.apply_gc, so that the answer never depends on when compaction ran.
// Errors:    those of Table::CheckAndMutateRow and ReadModifyWriteRow. Nothing is written unless the answer is OK.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "stele/filter.h"
#include "stele/mutation.h"
#include "stele/options.h"
#include "stele/row.h"

namespace stele::internal {

class Engine;

struct ConditionalMutations {
  const RowMutation* if_matched = nullptr;      // their own row keys are not looked at
  const RowMutation* if_not_matched = nullptr;  // not both empty
};

absl::StatusOr<MutationBranch> CheckAndMutate(const std::shared_ptr<Engine>& engine, uint32_t table_id, std::string_view row_key,
                                              const Filter& predicate, const ConditionalMutations& mutations, const WriteOptions& options);

absl::StatusOr<Row> ReadModifyWrite(Engine& engine, uint32_t table_id, std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                                    const WriteOptions& options);

}  // namespace stele::internal
