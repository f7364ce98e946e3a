// base/mutex.h: the engine's one lock: absl::Mutex, or the standard library's under ThreadSanitizer.
//
// Why two:   the packaged Abseil is built without -fsanitize=thread, and ThreadSanitizer then reports data that an absl::Mutex guards as
//            racy. std::mutex is understood by it. Both carry the same thread-safety annotations.
// Threads:   thread-safe. Which locks exist, and what may be taken under them: docs/locks.md.
#pragma once

#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#if defined(__SANITIZE_THREAD__)
#define STELE_STD_MUTEX 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STELE_STD_MUTEX 1
#endif
#endif

#ifdef STELE_STD_MUTEX
#include <condition_variable>
#include <mutex>
#endif

namespace stele::internal {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
#ifdef STELE_STD_MUTEX
  std::mutex mutex_;
#else
  absl::Mutex mutex_;
#endif
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable; wake-ups may be spurious, so wait in a loop over the condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // False when `timeout` passed first.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Signal();
  void SignalAll();

 private:
#ifdef STELE_STD_MUTEX
  std::condition_variable_any cv_;
#else
  absl::CondVar cv_;
#endif
};

}  // namespace stele::internal
