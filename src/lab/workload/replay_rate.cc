#include "lab/workload/replay_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stele::internal::lab {
namespace {

using stele::lab::ReplayRate;

// A trace may end in a distant year.
std::chrono::nanoseconds NanosOf(double seconds) {
  constexpr double kSecondsMax = 100.0 * 365 * 24 * 3600;
  return std::chrono::nanoseconds(std::llround(std::min(seconds, kSecondsMax) * 1e9));
}

bool IsFinitePositive(double number) { return std::isfinite(number) && number > 0; }

}  // namespace

bool IsValid(const ReplayRate& rate) {
  if (rate.speed.has_value() && rate.operations_per_second.has_value()) return false;
  return IsFinitePositive(rate.speed.value_or(1)) &&
         IsFinitePositive(rate.operations_per_second.value_or(1));
}

std::chrono::nanoseconds DueAfter(const ReplayRate& rate, uint64_t number, int64_t micros) {
  if (rate.operations_per_second.has_value())
    return NanosOf(static_cast<double>(number) / *rate.operations_per_second);
  if (!rate.speed.has_value()) return std::chrono::nanoseconds(0);
  return NanosOf(static_cast<double>(micros) / 1e6 / *rate.speed);
}

std::string ReplayRateText(const ReplayRate& rate) {
  if (rate.operations_per_second.has_value())
    return fmt::format("open loop, {:g} operations/s", *rate.operations_per_second);
  if (!rate.speed.has_value()) return "closed loop";
  return *rate.speed == 1 ? "open loop at the recorded times"
                          : fmt::format("open loop, {:g} times as fast as recorded", *rate.speed);
}

}  // namespace stele::internal::lab
