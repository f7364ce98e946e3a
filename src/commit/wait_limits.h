// commit/wait_limits.h: the stop token and the deadline of a call. They end its waits.
//
// Threads:   const calls may run together.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "absl/status/status.h"

namespace stele::internal {

struct WaitLimits {
  std::stop_token stop = {};
  // Not set: never.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;

  // True if the wait may end early.
  bool are_possible() const { return stop.stop_possible() || deadline.has_value(); }
  // Returns Cancelled after a stop was requested, and DeadlineExceeded after the deadline.
  absl::Status Check() const;
  // Returns how long a wait may last that starts now: until the deadline, and at most `most`.
  std::chrono::nanoseconds TimeLeft(std::chrono::nanoseconds most) const;
};

}  // namespace stele::internal
