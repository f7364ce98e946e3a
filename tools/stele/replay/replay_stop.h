// tools/stele/replay/replay_stop.h: stops a replay at the first SIGINT, SIGTERM or SIGHUP, so that
// its report is printed. A second signal ends the process, as one before Begin() does.
//
// Make it before the process has other threads.
//
// Threads:   confined to one thread.
#pragma once

#include <atomic>
#include <stop_token>

#include "compare/signal_waiter.h"

namespace stele::cli {

class ReplayStop {
 public:
  // The replay begins: from now on, its caller looks at token() and signal().
  void Begin() { has_begun_ = true; }
  std::stop_token token() const { return stop_.get_token(); }
  // The signal that came; 0: none.
  int signal() const { return signal_; }

 private:
  void OnSignal(int signal) {
    if (!has_begun_ || signal_.exchange(signal) != 0) EndBySignal(signal);
    stop_.request_stop();
  }

  std::stop_source stop_;
  std::atomic<bool> has_begun_ = false;
  std::atomic<int> signal_ = 0;
  SignalWaiter waiter_{[this](int signal) { OnSignal(signal); }};  // uses the members above
};

}  // namespace stele::cli
