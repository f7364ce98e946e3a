// state/database_clock.h: the database's clock (engine rule 7). It gives cells their timestamps,
// measures ages, and never goes back, not even when the database is reopened.
//
// It returns max(wall, last mark + monotonic time since); with a clock of the caller, max(its
// Now(), last mark), without any other source of time. A jump forward by more than a day is
// accepted and reported once.
// Units:     microseconds since the epoch.
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "stele/timestamp.h"

namespace stele::internal {

class DatabaseClock {
 public:
  // `on_jump(micros)` is called after a jump forward, on any thread; may be null.
  DatabaseClock(std::shared_ptr<TimestampClock> clock, std::function<void(int64_t)> on_jump);

  int64_t Now();
  // Ensures that the clock is at least `mark`, the value that recovery found in the manifest and
  // the log.
  void RaiseTo(int64_t mark);

 private:
  int64_t WallMicros() const;

  const std::shared_ptr<TimestampClock> clock_;
  const std::function<void(int64_t)> on_jump_;
  const std::chrono::steady_clock::time_point start_;
  // The database's time minus the time of the steady clock since start_, in microseconds: the
  // greatest difference so far. Relaxed: each value is complete alone.
  std::atomic<int64_t> lead_;
  std::atomic<int64_t> mark_;  // only for a clock of the caller; relaxed as above
};

}  // namespace stele::internal
