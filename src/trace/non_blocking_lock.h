// trace/non_blocking_lock.h: a lock that threads only try, around a few writes to memory.
//
// Why:       Unlock() is a plain store. That of std::mutex is a locked instruction, which waits
//            until the writes of the section have reached the cache. For a record of a trace, this
//            wait was a fifth of the cost.
// Used by:   trace/recorder.h.
// Threads:   thread-safe.
#pragma once

#include <atomic>

#include "absl/base/thread_annotations.h"

namespace stele::internal {

class ABSL_LOCKABLE NonBlockingLock {
 public:
  NonBlockingLock() = default;
  NonBlockingLock(const NonBlockingLock&) = delete;
  NonBlockingLock& operator=(const NonBlockingLock&) = delete;

  // Returns false if another thread has the lock.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !is_locked_.exchange(true, std::memory_order_acquire);
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    is_locked_.store(false, std::memory_order_release);
  }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  std::atomic<bool> is_locked_{false};
};

}  // namespace stele::internal
