// db/write_throttle.h: smooth back-pressure: writers are slowed a little early rather than stopped late.
//
// Pressure is how far memtables fill the write memory, or compaction debt its bound, whichever is more; below kPressureFree writers are
// never slowed. Above, each write waits for its turn at a rate of
//     drain * (0.5 / pressure)^2
// where drain is what background work got done per second lately: at half pressure writers go just as fast as the background drains, so
// the pressure settles where both are equal.
//   - Memory has a stop behind its turns (Engine::AwaitTurn), so a write waits 20 ms for its own at most, however many come at once.
//   - Debt has none: all writers together have the rate and no more. A turn is for as many bytes as take 20 ms, and a large write takes
//     several, so that a small one that comes beside it waits for one turn of each writer and not for all that they write.
// Units:     bytes, seconds; pressure is a ratio.
// Threads:   thread-safe; AwaitTurn blocks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

  struct Turn {
    std::chrono::nanoseconds wait{0};  // until it begins
    uint64_t bytes = 0;                // it is for
  };

  static double MemoryPressure(const WritePressure& pressure);
  static double DebtPressure(const WritePressure& pressure);
  static double PressureOf(const WritePressure& pressure) { return std::max(MemoryPressure(pressure), DebtPressure(pressure)); }
  // How long a write of `bytes` that comes at `now` waits at this pressure of memory; books its turn.
  std::chrono::nanoseconds BookMemoryTurn(uint64_t bytes, double pressure, std::chrono::steady_clock::time_point now);
  // The next turn at this pressure of debt for a write that has `bytes` to go at `now`.
  Turn BookDebtTurn(uint64_t bytes, double pressure, std::chrono::steady_clock::time_point now);
  // Books a turn and waits for it, or until the next Drained, whichever comes first.
  void AwaitMemoryTurn(uint64_t bytes, double pressure);
  // Takes all turns of a write, until the pressure is gone or `pressure` fails: asked at least every 20 ms.
  absl::Status AwaitDebtTurns(uint64_t bytes, const std::function<absl::StatusOr<double>()>& pressure);
  // Background work took `bytes` of memtables off in `took`.
  void Drained(uint64_t bytes, std::chrono::nanoseconds took);
  double drain_bytes_per_second() const;

 private:
  double RateLocked(double pressure) const;

  mutable Mutex mutex_;
  CondVar drained_;
  double drain_ ABSL_GUARDED_BY(mutex_) = 200e6;  // until measured: with less, a database that was just opened waits for nothing
  bool is_measured_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point memory_turn_next_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point debt_turn_next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
