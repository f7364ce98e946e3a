#include "base/mutex.h"

#include "absl/time/time.h"

namespace stele::internal {

#ifdef STELE_STD_MUTEX

void Mutex::Lock() { mutex_.lock(); }
void Mutex::Unlock() { mutex_.unlock(); }
void CondVar::Wait(Mutex& mutex) { cv_.wait(mutex.mutex_); }
bool CondVar::WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) {
  return cv_.wait_for(mutex.mutex_, timeout) == std::cv_status::no_timeout;
}
void CondVar::Signal() { cv_.notify_one(); }
void CondVar::SignalAll() { cv_.notify_all(); }

#else

void Mutex::Lock() { mutex_.Lock(); }
void Mutex::Unlock() { mutex_.Unlock(); }
void CondVar::Wait(Mutex& mutex) { cv_.Wait(&mutex.mutex_); }
bool CondVar::WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) {
  return !cv_.WaitWithTimeout(&mutex.mutex_, absl::FromChrono(timeout));
}
void CondVar::Signal() { cv_.Signal(); }
void CondVar::SignalAll() { cv_.SignalAll(); }

#endif

}  // namespace stele::internal
