// heat_output/palette.h: the colors of heat maps.
//
// Threads:   pure functions.
// Source:    inferno, by Nathaniel Smith and Stefan van der Walt, CC0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stele::internal::lab {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

// Returns an entry of the palette: 0 (cold) to 255 (hot).
Color InfernoColor(size_t entry);

// Returns 0 for zero, and 1 + floor((levels - 2) * log(1 + value) / log(1 + maximum)) for others,
// so that only the maximum has the last level.
size_t HeatLevel(double value, double maximum, size_t levels);

}  // namespace stele::internal::lab
