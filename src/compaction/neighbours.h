// compaction/neighbours.h: extends a small compaction over adjacent tablets. It reads shared files
// and writes a shared file, so that random writes over many tablets do not make thousands of small
// files.
//
// Used by:   compaction/picker.cc.
// Invariant: the subcompactions share one range of commits. The inputs of each one are all
//            references of its tablet with commits in that range. So the references of each
//            subcompaction are contiguous (engine rule 1). Each subcompaction applies GC rules at
//            its own time: compaction_job.h.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

struct TabletInputs {
  size_t tablet_index = 0;
  InputRange inputs;
};

// Returns the tablet's clusters whose intervals are within these commits. Returns none if no
// interval is, or if one is only partly.
std::optional<InputRange> InputsWithin(const std::vector<OverlapCluster>& clusters,
                                       uint64_t sequence_first, uint64_t sequence_last);

// Returns the seed and contiguous tablets on both sides of it, with the inputs that `inputs_of`
// returns for them. It stops at a tablet without inputs, at one that is not smaller than
// `subcompaction_bytes`, and when the total would exceed `bytes_max`. Ascending. The seed is the
// tablet for which the compaction was picked. A seed that is not small stays alone.
std::vector<TabletInputs> ExtendOverNeighbours(
    const TabletInputs& seed, size_t tablet_count, uint64_t subcompaction_bytes, uint64_t bytes_max,
    const std::function<std::optional<InputRange>(size_t tablet_index)>& inputs_of);

}  // namespace stele::internal
