// heat_map/patterns.h: finds the patterns of a heat map.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// A tablet of the table, with the operations and the known keys in it.
struct TabletLoad {
  std::string start;
  std::string end;  // "": the end of the table
  double operations = 0;
  uint64_t keys = 0;
};

// What the map itself does not have.
struct PatternFacts {
  uint64_t hottest_band = 0;
  uint64_t full_scans = 0;  // that touch at least half of the bands
  std::vector<TabletLoad> tablets;
};

// Returns the patterns of the map, in the order of docs/lab/heatmap.md. All other parts of the map
// except the Gini coefficient must be complete.
std::vector<stele::lab::HeatPattern> FindPatterns(const stele::lab::HeatMap::Parts& map,
                                                  const PatternFacts& facts);
// The operations by band.
std::vector<double> OperationsByBand(const stele::lab::HeatMap::Parts& map);

}  // namespace stele::internal::lab
