// heat_output/map_json.h: a heat map as JSON, also with rounded numbers.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <vector>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// `digits`: the number of significant digits of rows, bytes, latency and seen-ratio; 0: all.
std::string MapJson(const stele::lab::HeatMap& map, stele::lab::HeatMetric metric, int digits);

// The list of patterns in the JSON of a map.
std::string PatternsJson(const std::vector<stele::lab::HeatPattern>& patterns);

}  // namespace stele::internal::lab
