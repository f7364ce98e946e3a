// write/conditional_writes.h: writes that depend on the contents of a row: CheckAndMutateRow and
// ReadModifyWriteRow.
//
// Used by:   db/local_table.cc.
// Calls:     state/read_path.h (the present row), write/write_steps.h, commit/committer.h. The
//            committer refuses the batch if the row was written since it was read (engine rule 5).
//            Then the attempt is repeated.
// Order:     linearizable with every other write of the row. Row latches prevent repeated refusals
//            among conditional writers of one row.
// Cost:      a check whose predicate looks at one column reads only the sources that decide that
//            column (merge/sole_column.h), usually memory only.
// Reads:     as with ReadOptions.apply_gc, so that the result never depends on when compactions
//            ran.
// Errors:    those of Table::CheckAndMutateRow and ReadModifyWriteRow. Nothing is written unless
//            the result is OK.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "state/read_path.h"
#include "stele/filter.h"
#include "stele/mutation.h"
#include "stele/options.h"
#include "stele/row.h"
#include "write/write_admission.h"
#include "write/write_steps.h"

namespace stele::internal {

struct ConditionalMutations {
  const RowMutation* if_matched = nullptr;      // their own row keys are ignored
  const RowMutation* if_not_matched = nullptr;  // not both empty
  // The same two, if their changes may be freed (WriteEntry.owned).
  RowMutation* owned_matched = nullptr;
  RowMutation* owned_not_matched = nullptr;
};

class ConditionalWrites {
 public:
  // All parts must outlive it.
  struct Parts {
    const WriteSteps* steps = nullptr;
    WriteAdmission* admission = nullptr;
    const ReadPath* reads = nullptr;
  };
  explicit ConditionalWrites(const Parts& parts) : parts_(parts) {}

  absl::StatusOr<MutationBranch> CheckAndMutate(uint32_t table_id, std::string_view row_key,
                                                const Filter& predicate,
                                                const ConditionalMutations& mutations,
                                                const WriteOptions& options) const;

  absl::StatusOr<Row> ReadModifyWrite(uint32_t table_id, std::string_view row_key,
                                      std::span<const ReadModifyWriteRule> rules,
                                      const WriteOptions& options) const;

 private:
  const Parts parts_;
};

}  // namespace stele::internal
