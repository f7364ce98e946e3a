// remote/client/backoff.h: decides whether to retry a failed call, and how long to wait before
// that.
//
// Threads:   Backoff is thread-compatible; Waiter is thread-safe.
// Source:    the codes and messages after which Bigtable's own clients retry.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>
#include <stop_token>

#include "base/random.h"

namespace stele::internal {

using SteadyClock = std::chrono::steady_clock;

// True for a transient failure: the same call may soon succeed. These are UNAVAILABLE,
// DEADLINE_EXCEEDED (of an attempt), ABORTED, INTERNAL if the message says that the connection
// broke, and RESOURCE_EXHAUSTED if the message of gRPC or steled says that the server had no thread
// or memory for the call.
bool IsTransient(const grpc::Status& status);

// Computes the pauses between attempts. They double from kPauseMin to kPauseMax. Each is reduced by
// a random amount of up to half, so that clients that failed together do not retry together.
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

// The clock of retries. Tests replace it.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual SteadyClock::time_point Now() = 0;
  // Returns false if one of the tokens requested a stop before the time was reached.
  virtual bool WaitUntil(SteadyClock::time_point time, const std::stop_token& stop,
                         const std::stop_token& closing) = 0;
};

// Returns a Waiter that uses the system's clock.
std::shared_ptr<Waiter> SystemWaiter();

}  // namespace stele::internal
