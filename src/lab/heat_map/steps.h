// heat_map/steps.h: the time intervals of a heat map.
//
// Units:     microseconds since the epoch.
// Threads:   pure functions.
#pragma once

#include <cstdint>

namespace stele::internal::lab {

struct Steps {
  int64_t start = 0;
  int64_t width = 1'000'000;
  uint64_t count = 1;

  uint64_t StepOf(int64_t micros) const { return static_cast<uint64_t>((micros - start) / width); }
  int64_t StartOf(uint64_t step) const { return start + static_cast<int64_t>(step) * width; }
};

// The steps of `width` from that of `first` to that of `last`.
Steps StepsOfWidth(int64_t first, int64_t last, int64_t width);

// Chooses the smallest width of 1 2 5 10 15 30 s, 1 2 5 10 15 30 m, 1 2 6 h, 1 d with which there
// are at most `steps_max` steps; above it 2, 4, 8, ... d.
Steps ChooseSteps(int64_t first, int64_t last, uint64_t steps_max);

}  // namespace stele::internal::lab
