// compaction/merge_policy.h: finds adjacent clusters of one stack that are worth merging. Merging
// clusters of similar size keeps writes cheap. Others are merged to make reads cheaper, or because
// drops have fragmented them.
//
// Used by:   compaction/picker.cc.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

// The greatest number of sources that are merged by size at once. A range with clusters of several
// sources may exceed it. A job opens each source, and keeps a row group and a read window of each
// in memory. The value is a guess. It causes one additional rewrite in two thousand flushes.
inline constexpr size_t kFanInMax = 64;

// Size-tiered: finds the newest range of clusters of similar size that have enough sources
// together. A range with too many sources is cut to its oldest part. A range whose output would
// complete the next tier includes that tier. A cell is rewritten about log(data / flush) /
// log(fan-in) times.
std::optional<InputRange> FindTieredInputs(const std::vector<OverlapCluster>& clusters);

// Finds a merge that reads have made worthwhile. `reads` is the number of reads since the stack
// last changed. A range of clusters qualifies if its additional sources have cost these reads more
// than merging the range costs. Returns the range that removes most sources. Returns none without
// reads: a tablet that is only written stays tiered.
std::optional<InputRange> FindInputsForReads(const std::vector<OverlapCluster>& clusters,
                                             uint64_t reads);

// The work that remains for merging by size: no bytes if and only if FindTieredInputs finds
// nothing.
struct TieredDebt {
  uint64_t bytes = 0;              // to rewrite
  std::vector<InputRange> inputs;  // of each merge, by positions in the present stack
};
TieredDebt TieredDebtOf(std::vector<OverlapCluster> clusters);

// Finds a cluster whose files have too many references because of drops, so that it is worth
// rewriting. Returns the one with the most fragments per byte.
std::optional<InputRange> FindFragmentedInputs(const std::vector<OverlapCluster>& clusters);
// The number of references that rewriting these inputs removes.
size_t FragmentsOf(const std::vector<OverlapCluster>& clusters, const InputRange& inputs);

// The bytes of all clusters that have too many fragments: 0 if and only if FindFragmentedInputs
// finds none.
uint64_t FragmentDebtBytes(const std::vector<OverlapCluster>& clusters);

}  // namespace stele::internal
