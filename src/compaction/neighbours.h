// compaction/neighbours.h: small slices are merged over neighbouring tablets: shared files in, shared files out, so that random writes over
// many tablets do not make thousands of small files.
//
// Path:      picker.cc -> here.
// Invariant: within the commits from the first to the last of all slices, the inputs of each slice are all that its tablet has. So each
//            slice's references are contiguous (engine rule 1). At which time its ranks are judged is its own matter: compaction_job.h.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

struct TabletRun {
  size_t tablet_index = 0;
  Run run;
};

// The run of the tablet's groups that lie in these commits. None when a group lies in them partly, or none lies in them whole.
std::optional<Run> RunWithin(const std::vector<Group>& groups, uint64_t sequence_first, uint64_t sequence_last);

// The seed, and to both sides of it, without a gap, what `run_of` gives for the other tablets of the table, as long as it gives anything,
// each is smaller than `slice_bytes`, and all are at most `bytes_max` together. Ascending. A seed that is not small stays alone.
std::vector<TabletRun> ExtendOverNeighbours(const TabletRun& seed, size_t tablet_count, uint64_t slice_bytes, uint64_t bytes_max,
                                            const std::function<std::optional<Run>(size_t tablet_index)>& run_of);

}  // namespace stele::internal
