// compaction/reclaim_policy.h: finds references that can be dropped unread, and stacks that are
// worth rewriting to free dead bytes.
//
// Path:      picker.cc -> here -> dead_share.h.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "compaction/stack_shape.h"

namespace stele::internal {

// Returns the oldest references that may be dropped unread (engine rule 11): all their cells are
// garbage, and the cells that their tombstones hide are dropped with them or do not exist. Bytes
// and intervals are not set.
std::optional<InputRange> FindDroppableInputs(const Tablet& tablet,
                                              const TableDefinition& definition, int64_t now);

// All clusters, which reach the end of the stack, if enough of their bytes are dead.
struct DeadInputs {
  InputRange inputs;
  uint64_t dead_bytes = 0;
  uint64_t live_bytes = 0;  // the size of the rewritten data
};
std::optional<DeadInputs> FindMajorInputs(const Tablet& tablet,
                                          const std::vector<OverlapCluster>& clusters,
                                          const TableDefinition& definition,
                                          const PartsByFile& parts, int64_t now);

}  // namespace stele::internal
