// heat_map/complete_map.h: adds the Gini coefficient and the patterns to a map.
//
// Threads:   pure functions.
#pragma once

#include "lab/heat_map/patterns.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// Sets the Gini coefficient and the patterns. `parts` has everything else.
stele::lab::HeatMap CompleteMap(stele::lab::HeatMap::Parts parts, const PatternFacts& facts);

}  // namespace stele::internal::lab
