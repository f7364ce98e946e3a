// db/database_clock.h: the database's clock (engine rule 7): stamps cells, measures ages, never goes back, not even across reopen.
//
// max(wall, last mark + monotonic time since); with a clock of the caller's, max(its Now(), last mark) and no other source of time.
// A jump forward by more than a day is believed, and reported once.
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
  // `on_jump(micros)` is told of a jump forward, from whichever thread saw it; may be null.
  DatabaseClock(std::shared_ptr<Clock> clock, std::function<void(int64_t)> on_jump);

  int64_t Now();
  // The clock will not go below `mark`: what recovery found in the manifest and the log.
  void RaiseTo(int64_t mark);

 private:
  int64_t WallMicros() const;

  const std::shared_ptr<Clock> clock_;
  const std::function<void(int64_t)> on_jump_;
  const std::chrono::steady_clock::time_point start_;
  // micros of the database minus micros of the steady clock since start_, at its greatest so far; relaxed: each value is complete alone.
  std::atomic<int64_t> lead_;
  std::atomic<int64_t> mark_;  // the caller's clock only; relaxed as above
};

}  // namespace stele::internal
