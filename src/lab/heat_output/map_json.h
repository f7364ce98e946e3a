// heat_output/map_json.h: a heat map as JSON, also with rounded numbers.
//
// Threads:   pure functions.
#pragma once

#include <string>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// `digits`: the number of significant digits of rows, bytes, latency and seen-ratio; 0: all.
std::string MapJson(const stele::lab::HeatMap& map, stele::lab::HeatMetric metric, int digits);

}  // namespace stele::internal::lab
