// heat_output/map_json.h: a heat map, or only its patterns, as JSON.
//
// Threads:   pure functions.
#pragma once

#include <span>
#include <string>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// A list with an object per pattern.
std::string PatternsJson(std::span<const stele::lab::HeatPattern> patterns);
// A heat map. `digits`: the number of significant digits of rows, bytes, latency and seen-ratio; 0:
// all.
std::string MapJson(const stele::lab::HeatMap& map, stele::lab::HeatMetric metric, int digits);

}  // namespace stele::internal::lab
