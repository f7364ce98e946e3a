// compaction/merge_policy.h: which neighbours of one stack are worth merging into one run: for the writes' sake by size, for the reads' by
// what they cost.
//
// Path:      picker.cc -> here.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

// Size-tiered: the newest run of groups of like size that is long enough. A cell is rewritten about log(data / flush) / log(fan-in) times.
std::optional<Run> FindTieredRun(const std::vector<Group>& groups);

// Rent or buy: of the runs whose merging would have cost no more than what `reads` (since the stack changed) paid for their being apart,
// the one that takes most sources away. None without reads: a tablet that is only written stays tiered.
std::optional<Run> FindReadRun(const std::vector<Group>& groups, uint64_t reads);

// What merging by size still rewrites: 0 iff there is no tiered run.
uint64_t TieredDebtBytes(std::vector<Group> groups);

}  // namespace stele::internal
