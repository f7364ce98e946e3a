// write/large_writes.h: limits the large writes that run concurrently; a write larger than a
// quarter of the budget runs alone (engine rule 21).
//
// Used by:   write/write_admission.cc holds a Guard from before the write is encoded until its
//            commit returns.
// Calls:     base/memory_tracker.h (kWrites).
// Small:     a write below a 64th of the budget passes unless one runs alone; it costs one atomic
//            load.
// Large:     larger writes are admitted in order, as long as they are below a quarter of the budget
//            together. Twice their bytes are charged: for the batch and for the log's buffer.
// Alone:     a write above a quarter of the budget waits for all others, excludes all others, and
//            is not charged, since it may be larger than the whole budget. The memtables are empty
//            when it begins (WriteAdmission::DrainMemtables).
// Waits:     only for other writes, which background work completes or fails.
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "absl/status/status.h"
#include "base/memory_tracker.h"
#include "base/mutex.h"

namespace stele::internal {

class LargeWrites {
 public:
  explicit LargeWrites(MemoryTracker* memory_tracker) : memory_tracker_(*memory_tracker) {}
  LargeWrites(const LargeWrites&) = delete;
  LargeWrites& operator=(const LargeWrites&) = delete;

  class Guard {
   public:
    // Waits until the write is admitted. Meanwhile calls `check`, unless it is null, at least every
    // 20 ms. An error of `check` ends the wait and becomes status().
    using Check = std::function<absl::Status()>;
    Guard(LargeWrites* writes, uint64_t bytes, const Check& check);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    const absl::Status& status() const { return status_; }
    bool is_alone() const { return is_alone_; }

   private:
    LargeWrites& writes_;
    const uint64_t bytes_;
    const bool is_alone_;
    const bool is_large_;
    absl::Status status_;
    MemoryCharge charge_;
  };

  // True if writes of this size are admitted in order.
  bool IsLarge(uint64_t bytes) const { return bytes >= large_bytes(); }

 private:
  uint64_t alone_bytes() const { return memory_tracker_.budget_bytes() / 4; }  // above: alone
  uint64_t large_bytes() const { return memory_tracker_.budget_bytes() / 64; }
  absl::Status AwaitSmall(const Guard::Check& check);
  absl::Status AwaitPermit(uint64_t bytes, bool alone, const Guard::Check& check);
  absl::Status AwaitChange(const Guard::Check& check) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(uint64_t bytes, bool alone);

  MemoryTracker& memory_tracker_;
  // Written under mutex_. Relaxed: a small write that passes at the same time does not matter.
  std::atomic<bool> runs_alone_{false};
  Mutex mutex_;
  CondVar changed_;
  // The large writes that wait, in order. A unique address identifies each.
  std::deque<const void*> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of admitted large writes
};

}  // namespace stele::internal
