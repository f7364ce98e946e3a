// compaction/merge_policy.h: which neighbours of one stack are worth merging into one run: for the writes' sake by size, for the reads' by
// what they cost; and what is rewritten because drops cut it up.
//
// Path:      picker.cc -> here.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

// Sources that are merged by size at once, at most: a job opens each, with a row group and a window of it in memory. A guess: what piles up
// that high is rewritten once more in two thousand flushes.
inline constexpr size_t kFanInMax = 64;

// Size-tiered: the newest run of groups of like size that is long enough, or the oldest part of it if it is too long. A cell is rewritten
// about log(data / flush) / log(fan-in) times.
std::optional<Run> FindTieredRun(const std::vector<Group>& groups);

// Rent or buy: of the runs whose merging would have cost no more than what `reads` (since the stack changed) paid for their being apart,
// the one that takes most sources away. None without reads: a tablet that is only written stays tiered.
std::optional<Run> FindReadRun(const std::vector<Group>& groups, uint64_t reads);

// What merging by size still rewrites: 0 iff there is no tiered run.
uint64_t TieredDebtBytes(std::vector<Group> groups);

// A group that is rewritten because drops cut its files into too many references: the one with the
// most of them for its bytes.
std::optional<Run> FindFragmentedRun(const std::vector<Group>& groups);
// How many references the rewriting of such a run takes away.
size_t FragmentsOf(const std::vector<Group>& groups, const Run& run);

// The bytes of all groups that are rewritten for it: 0 iff there is no such run.
uint64_t FragmentDebtBytes(const std::vector<Group>& groups);

}  // namespace stele::internal
