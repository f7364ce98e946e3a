// commit/turn.h: how a thread waits for its turn in the commit queue: it may poll for a while, then
// it sleeps.
//
// Why:       a commit takes a few microseconds, and waking a thread takes longer. A waiter that
//            polls a while is usually still awake when its turn comes.
// Polling:   after the first 64 polls, the waiter yields the processor at each poll. So the thread
//            that gives the turn can run, even on the same processor.
// Lifetime:  the store in Give is the last access to a turn whose waiter polls. So the waiter may
//            free the turn as soon as PollFor returns true.
// Threads:   one waiter, and one call of Give. A mutex of the caller guards all calls but PollFor.
#pragma once

#include <atomic>
#include <chrono>

#include "base/mutex.h"

namespace stele::internal {

class Turn {
 public:
  // Polls, without the mutex. Returns true if the turn was given within `time`.
  bool PollFor(std::chrono::nanoseconds time) const;
  // Sleeps until the turn is given. `mutex` is held before and after.
  void Sleep(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Like Sleep, but may return without the turn: after `time`, after Wake, or for no reason.
  void SleepAtMost(Mutex& mutex, std::chrono::nanoseconds time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Ends the waiter's wait. The mutex of Sleep must be held.
  void Give();
  // Ends a SleepAtMost without the turn. The mutex of Sleep must be held.
  void Wake() { woken_.Signal(); }
  // The mutex of Sleep must be held.
  bool is_given() const { return given_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> given_{false};
  bool sleeps_ = false;
  CondVar woken_;
};

}  // namespace stele::internal
