#include "replay/pace.h"

#include "arguments.h"
#include "base/status.h"
#include "session.h"

namespace stele::cli {

absl::StatusOr<Pace> ParsePace(const std::string& text) {
  if (text == "max") return Pace::Max();
  if (text == "recorded") return Pace::Recorded();
  if (const auto rate = PositiveBefore(text, "/s")) return Pace::PerSecond(*rate);
  if (const auto speed = PositiveBefore(text, "x")) return Pace::Recorded(*speed);
  return UsageError(
      fmt::format("--rate must be recorded, a factor such as 2x, operations per second such as "
                  "500/s, or max, not \"{}\"",
                  internal::Printable(text)));
}

}  // namespace stele::cli
