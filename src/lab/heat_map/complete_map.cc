#include "lab/heat_map/complete_map.h"

#include <utility>

#include "lab/heat_map/statistics.h"

namespace stele::internal::lab {

stele::lab::HeatMap CompleteMap(stele::lab::HeatMap::Parts parts, const PatternFacts& facts) {
  parts.gini = GiniOf(OperationsByBand(parts));
  parts.patterns = FindPatterns(parts, facts);
  return stele::lab::HeatMap(std::move(parts));
}

}  // namespace stele::internal::lab
