#include "replay/pace.h"

#include <algorithm>
#include <cmath>

#include "arguments.h"
#include "base/status.h"
#include "session.h"

namespace stele::cli {
namespace {

// A trace may end in a distant year.
std::chrono::nanoseconds Nanos(double seconds) {
  constexpr double kSecondsMax = 100.0 * 365 * 24 * 3600;
  return std::chrono::nanoseconds(std::llround(std::min(seconds, kSecondsMax) * 1e9));
}

}  // namespace

Pace Pace::Recorded() {
  Pace pace;
  pace.speed_ = 1;
  return pace;
}

absl::StatusOr<Pace> Pace::Parse(const std::string& text) {
  if (text == "max") return Max();
  if (text == "recorded") return Recorded();
  Pace pace;
  pace.speed_ = PositiveBefore(text, "x");
  pace.rate_ = PositiveBefore(text, "/s");
  if (pace.is_open_loop()) return pace;
  return UsageError(
      fmt::format("--rate must be recorded, a factor such as 2x, operations per second such as "
                  "500/s, or max, not \"{}\"",
                  internal::Printable(text)));
}

std::chrono::nanoseconds Pace::DueAfter(uint64_t number, int64_t micros) const {
  if (rate_.has_value()) return Nanos(static_cast<double>(number) / *rate_);
  if (!speed_.has_value()) return std::chrono::nanoseconds(0);
  return Nanos(static_cast<double>(micros) / 1e6 / *speed_);
}

std::string Pace::Text() const {
  if (rate_.has_value()) return fmt::format("open loop, {:g} operations/s", *rate_);
  if (!speed_.has_value()) return "closed loop";
  return *speed_ == 1 ? "open loop at the recorded times"
                      : fmt::format("open loop, {:g} times as fast as recorded", *speed_);
}

}  // namespace stele::cli
