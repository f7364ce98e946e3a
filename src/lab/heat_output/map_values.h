// heat_output/map_values.h: formats numbers, times and metrics for several outputs.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// All metrics, in the order of the outputs.
std::span<const stele::lab::HeatMetric> AllHeatMetrics();
// Returns "2023-11-14T22:13:20Z". A fraction of a second follows the seconds unless it is zero.
std::string TimeText(int64_t micros);
// "10s", "1m", "500ms", in the largest unit that divides it.
std::string WidthText(int64_t micros);
std::string_view SeverityText(stele::lab::HeatSeverity severity);
// The largest value of a metric in the map; 0 if there is none.
double LargestValue(const stele::lab::HeatMap& map, stele::lab::HeatMetric metric);
// Appends the shortest form of whole numbers, and at most four decimals of others.
void AppendValue(double value, std::string* out);

}  // namespace stele::internal::lab
