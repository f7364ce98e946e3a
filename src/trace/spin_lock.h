// trace/spin_lock.h: a lock for sections of a few nanoseconds, which callers on a fast path only
// try.
//
// Why:       Unlock() is a plain store. That of std::mutex is a locked instruction, which waits
//            until the writes of the section have reached the cache. A section that writes to new
//            memory then takes several times as long.
// Used by:   trace/recorder.h.
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace stele::internal {

class ABSL_LOCKABLE SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  // Returns false if another thread has the lock.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !is_locked_.exchange(true, std::memory_order_acquire);
  }
  // Yields the processor until the lock is free.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    while (!TryLock()) std::this_thread::yield();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    is_locked_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> is_locked_{false};
};

class ABSL_SCOPED_LOCKABLE SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock& lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) : lock_(lock) {
    lock_.Lock();
  }
  // Releases a lock that TryLock() got.
  SpinLockHolder(SpinLock& lock, std::adopt_lock_t /*adopt*/) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock)
      : lock_(lock) {}
  ~SpinLockHolder() ABSL_UNLOCK_FUNCTION() { lock_.Unlock(); }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace stele::internal
