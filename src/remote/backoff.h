// remote/backoff.h: whether a failed call is worth another try, and how long to wait before it.
//
// Threads:   Backoff is thread-compatible; Waiter is thread-safe.
// Source:    the codes and texts that Bigtable's own clients try again after.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>
#include <stop_token>

#include "base/random.h"

namespace stele::internal {

using SteadyClock = std::chrono::steady_clock;

// A failure of the moment: the same call may well succeed soon. UNAVAILABLE, DEADLINE_EXCEEDED (of an attempt), ABORTED, INTERNAL where
// its text says that the connection broke, and RESOURCE_EXHAUSTED where gRPC itself says that the server had no thread for the call.
bool IsTransient(const grpc::Status& status);

// Pauses double from kPauseMin to kPauseMax; each is cut by chance to between its half and all of it, so that clients that failed together
// do not come back together.
class Backoff {
 public:
  static constexpr std::chrono::microseconds kPauseMin{20'000};
  static constexpr std::chrono::microseconds kPauseMax{5'000'000};

  explicit Backoff(uint64_t seed) : random_(seed) {}

  std::chrono::microseconds Next();
  void Reset() { pause_ = kPauseMin; }

 private:
  Random random_;
  std::chrono::microseconds pause_ = kPauseMin;
};

// Time, as far as retries know it; tests have one of their own.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual SteadyClock::time_point Now() = 0;
  // False: one of the tokens asked for an end before the time came.
  virtual bool WaitUntil(SteadyClock::time_point time, const std::stop_token& stop, const std::stop_token& closing) = 0;
};

// The system's time.
std::shared_ptr<Waiter> SystemWaiter();

}  // namespace stele::internal
