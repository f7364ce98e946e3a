// manifest/runs.h: divides a stack into the fewest sorted runs. The references of a sorted run do
// not overlap, so it is one source of a merge.
//
// Used by:   read/source_chain.cc and jobs/compaction_job.cc. They make a cursor of each run
//            (merge/run_cursor.h).
// Why:       references that do not overlap may change places in a stack, since no row is in both.
//            So each may be placed directly below the lowest newer one that it overlaps. References
//            of the same depth form one run: parts of one file, the files of a bulk load, and
//            flushes of rows that were written in order. No division that satisfies engine rule 1
//            has fewer runs.
// Cost:      n log n if all references overlap or none do; at most n * runs * log n.
// Threads:   a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/row_ranges.h"

namespace stele::internal {

// `newest_first` are the row ranges of a stack. Each run contains positions in it, ascending by
// row. Runs are newest first: if ranges of two runs overlap, the first run has the newer one. Empty
// ranges are in no run.
std::vector<std::vector<uint32_t>> DivideIntoRuns(std::span<const KeyRange* const> newest_first);

}  // namespace stele::internal
