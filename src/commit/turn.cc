#include "commit/turn.h"

#include <thread>

namespace stele::internal {
namespace {

// Polls before the first yield, which is a system call.
constexpr int kPollsBeforeYield = 64;

void SpinOnce() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool Turn::PollFor(std::chrono::nanoseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  for (int polls = 0; !given_.load(std::memory_order_acquire); ++polls) {
    if (polls < kPollsBeforeYield) {
      SpinOnce();
      continue;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

void Turn::Sleep(Mutex& mutex) {
  sleeps_ = true;
  while (!given_.load(std::memory_order_relaxed)) woken_.Wait(mutex);
}

void Turn::SleepAtMost(Mutex& mutex, std::chrono::nanoseconds time) {
  sleeps_ = true;
  if (!is_given()) woken_.WaitFor(mutex, time);
}

void Turn::Give() {
  if (sleeps_) {
    given_.store(true, std::memory_order_relaxed);
    woken_.Signal();  // the waiter returns only after the giver has released the mutex
  } else {
    given_.store(true, std::memory_order_release);
  }
}

}  // namespace stele::internal
