// write/write_throttle.h: write throttling. It delays writers early and by a little, so that they
// are not stopped later.
//
// There are two pressures: memory pressure is the fill level of the write memory, debt pressure is
// the compaction debt divided by its limit. Each has its own slots. A write waits for slots of each
// pressure that is above kPressureFree. The write may continue at the time of its slot. Slots
// follow each other at a rate of
//     drain * (0.5 / pressure)^2
// where drain is the recent throughput of background work in bytes per second. At half pressure
// writers are exactly as fast as the background work, so the pressure converges to the level where
// both are equal.
// - Memory also has a hard limit (WriteAdmission::AwaitMemory), so a write waits at most 20 ms for
//   its slot.
// - Debt has no hard limit: all writers together get this rate. A slot admits as many bytes as this
//   rate admits in 20 ms. A large write takes several slots, so a small concurrent write waits for
//   one slot of each writer.
// Used by:   write/write_admission.cc delays writes. jobs/job_runner.cc reports flushed bytes
//            (Drained).
// Units:     bytes, seconds; pressure is a ratio.
// Threads:   thread-safe; AwaitMemorySlot and AwaitDebtSlots block.
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

  struct Slot {
    std::chrono::nanoseconds wait{0};  // until it begins
    uint64_t bytes = 0;                // the bytes that it admits
    std::chrono::nanoseconds time{0};  // that the bytes take
  };

  static double MemoryPressure(const WritePressure& pressure);
  static double DebtPressure(const WritePressure& pressure);
  static double PressureOf(const WritePressure& pressure) {
    return std::max(MemoryPressure(pressure), DebtPressure(pressure));
  }
  // Books a slot for a write of `bytes` at time `now`, and returns how long the write waits at this
  // memory pressure.
  std::chrono::nanoseconds BookMemorySlot(uint64_t bytes, double pressure,
                                          std::chrono::steady_clock::time_point now);
  // Returns the next slot at this debt pressure for a write that has `bytes` left at `now`.
  Slot BookDebtSlot(uint64_t bytes, double pressure, std::chrono::steady_clock::time_point now);
  // Books a slot and waits for it, or until the next Drained, whichever comes first.
  void AwaitMemorySlot(uint64_t bytes, double pressure);
  // Waits for all slots of a write. Ends early if the pressure is gone, or if `pressure` returns an
  // error, which is returned. Calls `pressure` at least every 20 ms.
  absl::Status AwaitDebtSlots(uint64_t bytes,
                              const std::function<absl::StatusOr<double>()>& pressure);
  // Returns a slot that no write waits for any more. Otherwise writers that give up and try again
  // would book slots faster than they pass, and no write would get through.
  void ReturnDebtSlot(const Slot& slot);
  // Records that background work flushed `bytes` of memtables in `took`.
  void Drained(uint64_t bytes, std::chrono::nanoseconds took);
  double drain_bytes_per_second() const;

 private:
  double RateLocked(double pressure) const;

  mutable Mutex mutex_;
  CondVar drained_;
  // An initial value, until it is measured. A lower one would delay writes to a new database
  // without need.
  double drain_ ABSL_GUARDED_BY(mutex_) = 200e6;
  bool is_measured_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point memory_slot_next_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point debt_slot_next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
