#include "commit/wait_limits.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal {

absl::Status WaitLimits::Check() const {
  if (stop.stop_requested())
    return Cancelled("the write was stopped by its stop token before it was committed");
  if (deadline.has_value() && std::chrono::steady_clock::now() >= *deadline)
    return DeadlineExceeded("the write was not committed before its deadline");
  return absl::OkStatus();
}

std::chrono::nanoseconds WaitLimits::TimeLeft(std::chrono::nanoseconds most) const {
  if (!deadline.has_value()) return most;
  const auto now = std::chrono::steady_clock::now();
  if (*deadline <= now) return std::chrono::nanoseconds(0);
  return std::min<std::chrono::nanoseconds>(*deadline - now, most);
}

}  // namespace stele::internal
