#include "lab/heat_map/steps.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kStepWidths[] = {kSecond,      2 * kSecond,  5 * kSecond,  10 * kSecond,
                                   15 * kSecond, 30 * kSecond, kMinute,      2 * kMinute,
                                   5 * kMinute,  10 * kMinute, 15 * kMinute, 30 * kMinute,
                                   kHour,        2 * kHour,    6 * kHour};

}  // namespace

Steps StepsOfWidth(int64_t first, int64_t last, int64_t width) {
  return {.start = first - first % width,
          .width = width,
          .count = static_cast<uint64_t>(last / width - first / width) + 1};
}

Steps ChooseSteps(int64_t first, int64_t last, uint64_t steps_max) {
  for (const int64_t width : kStepWidths) {
    const Steps steps = StepsOfWidth(first, last, width);
    if (steps.count <= steps_max) return steps;
  }
  Steps steps = StepsOfWidth(first, last, kDay);
  // One step has everything once the width exceeds all times. 2^27 days are below 2^63 us.
  while (steps.count > steps_max && steps.width < INT64_MAX / 4)
    steps = StepsOfWidth(first, last, 2 * steps.width);
  return steps;
}

}  // namespace stele::internal::lab
