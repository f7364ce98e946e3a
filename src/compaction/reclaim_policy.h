// compaction/reclaim_policy.h: what gives bytes back: references that may go unread, and stacks that are worth rewriting for what is dead.
//
// Path:      picker.cc -> here -> dead_share.h.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "compaction/stack_shape.h"

namespace stele::internal {

// The oldest run of references that may go unread (engine rule 11): every cell in them is condemned, and what their tombstones hide goes
// with them or is not there. Bytes and intervals are not filled in.
std::optional<Run> FindDropRun(const Tablet& tablet, const TableDefinition& definition, int64_t now);

// All groups, which reach the end of the stack, if enough of them is dead.
struct DeadRun {
  Run run;
  uint64_t dead_bytes = 0;
  uint64_t live_bytes = 0;  // what the rewrite leaves
};
std::optional<DeadRun> FindMajorRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                                    const PartsByFile& parts, int64_t now);

}  // namespace stele::internal
