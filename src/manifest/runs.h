// manifest/runs.h: a stack as few runs of references that do not overlap, each of which is one source for a merge.
//
// Path:      read/source_chain, compaction_job -> here -> merge/run_cursor.h.
// Why:       references that do not overlap may trade places in a stack, for no row is in both. So each may stand right below the lowest
//            newer one that it overlaps, and those of one depth are one source: pieces of one file, the files of a bulk load, and flushes
//            of rows that came in order. No division into sources that keeps engine rule 1 has fewer.
// Cost:      n log n for references that all overlap or none does; n * runs * log n at most.
// Threads:   a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/row_ranges.h"

namespace stele::internal {

// `newest_first` are the row ranges of a stack. Each run holds their positions, ascending by row; runs are newest first: where ranges of
// two runs overlap, that of the first is the newer one. Empty ranges are in no run.
std::vector<std::vector<uint32_t>> DivideIntoRuns(std::span<const KeyRange* const> newest_first);

}  // namespace stele::internal
