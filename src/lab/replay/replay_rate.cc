// replay/replay_rate.cc: when the operations of a replay are due.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stele/lab/replay.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

// A trace may end in a distant year.
std::chrono::nanoseconds NanosOf(double seconds) {
  constexpr double kSecondsMax = 100.0 * 365 * 24 * 3600;
  return std::chrono::nanoseconds(std::llround(std::min(seconds, kSecondsMax) * 1e9));
}

bool IsFinitePositive(double number) { return std::isfinite(number) && number > 0; }

}  // namespace

ReplayRate ReplayRate::Recorded(double speed) {
  ReplayRate rate;
  rate.speed_ = speed;
  return rate;
}

ReplayRate ReplayRate::PerSecond(double operations) {
  ReplayRate rate;
  rate.rate_ = operations;
  return rate;
}

bool ReplayRate::is_valid() const {
  return IsFinitePositive(speed_.value_or(1)) && IsFinitePositive(rate_.value_or(1));
}

std::chrono::nanoseconds ReplayRate::DueAfter(uint64_t number, int64_t micros) const {
  if (rate_.has_value()) return NanosOf(static_cast<double>(number) / *rate_);
  if (!speed_.has_value()) return std::chrono::nanoseconds(0);
  return NanosOf(static_cast<double>(micros) / 1e6 / *speed_);
}

std::string ReplayRate::ToText() const {
  if (rate_.has_value()) return fmt::format("open loop, {:g} operations/s", *rate_);
  if (!speed_.has_value()) return "closed loop";
  return *speed_ == 1 ? "open loop at the recorded times"
                      : fmt::format("open loop, {:g} times as fast as recorded", *speed_);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
