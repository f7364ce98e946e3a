// base/mutex.h: the engine's lock type: std::mutex with annotations for the compiler's
// thread-safety analysis.
//
// Why:       the packaged absl::Mutex runs its deadlock detector at every Lock, which slows down
//            point reads. ThreadSanitizer does not understand it when the library was built without
//            instrumentation, and reports false races (docs/decisions/0013-standard-mutex.md).
// Threads:   thread-safe. docs/internals/locking.md lists the locks and their order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace stele::internal {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  // Returns false if another thread has the lock.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return mutex_.try_lock();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable; wake-ups may be spurious, so wait in a loop over the condition.
class CondVar {
 public:
  CondVar() : cv_() {}
  ~CondVar() {}
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // Returns false if `timeout` passed first.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool signalled = cv_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return signalled;
  }
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  // Never destroyed: it owns nothing, and in a forked child its destructor would wait forever for
  // waiters that exist only in the parent.
  union {
    std::condition_variable cv_;
  };
};

}  // namespace stele::internal
