// db/write_throttle.h: smooth back-pressure: writers are slowed a little early rather than stopped late.
//
// Pressure is how far memtables fill the write memory, or compaction debt its bound, whichever is more; below kPressureFree writers are
// never slowed. Above, each write waits for its turn at a rate of
//     drain * (0.5 / pressure)^2
// where drain is what background work got done per second lately: at half pressure writers go just as fast as the background drains, so
// the pressure settles where both are equal, and no write waits longer than its own bytes take at that rate.
// Units:     bytes, seconds; pressure is a ratio.
// Threads:   thread-safe; AwaitTurn blocks.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "base/mutex.h"

namespace stele::internal {

struct WritePressure {
  uint64_t memtable_bytes = 0;
  uint64_t memtable_bytes_max = 1;
  uint64_t debt_bytes = 0;
  uint64_t debt_bytes_max = 1;
};

class WriteThrottle {
 public:
  static constexpr double kPressureFree = 0.25;
  static constexpr double kPressureStop = 1.0;

  static double PressureOf(const WritePressure& pressure);
  // How long a write of `bytes` that comes at `now` waits at this pressure; books its turn.
  std::chrono::nanoseconds BookTurn(uint64_t bytes, double pressure, std::chrono::steady_clock::time_point now);
  // Books a turn and waits for it, or until the next Drained, whichever comes first.
  void AwaitTurn(uint64_t bytes, double pressure);
  // Background work took `bytes` of memtables off in `took`.
  void Drained(uint64_t bytes, std::chrono::nanoseconds took);
  double drain_bytes_per_second() const;

 private:
  mutable Mutex mutex_;
  CondVar drained_;
  double drain_ ABSL_GUARDED_BY(mutex_) = 64e6;  // until measured: what a small machine flushes
  std::chrono::steady_clock::time_point turn_next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
