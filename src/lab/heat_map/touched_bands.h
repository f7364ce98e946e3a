// heat_map/touched_bands.h: the bands that an operation on ranges of rows touches.
//
// Threads:   pure functions.
#pragma once

#include <vector>

#include "lab/heat_map/bands.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// Returns disjoint ranges in order. A scan that was stopped ends at the band of its last row; a
// reverse scan begins there. Only a scan of no rows, with an empty list of ranges, has no bands.
std::vector<BandRange> TouchedBands(const Bands& bands, const TraceRecord& record);

}  // namespace stele::internal::lab
