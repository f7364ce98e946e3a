// tools/stele/compare/signal_waiter.h: calls a function when SIGINT, SIGTERM or SIGHUP comes.
//
// Make it before the process has other threads: they must not get these signals. A signal that the
// process ignores, for example SIGHUP under nohup, stays ignored.
//
// Threads:   confined to one thread. The function runs on another one.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace stele::cli {

// Ends the process by this signal, as if nothing waited for it.
void EndBySignal(int signal);

class SignalWaiter {
 public:
  // Calls `on_signal` with the number of each signal until the destructor.
  explicit SignalWaiter(std::function<void(int signal)> on_signal);
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

 private:
  void AwaitSignals() const;

  const std::function<void(int signal)> on_signal_;
  sigset_t signals_before_ = {};
  int signals_ = -1;
  int end_ = -1;  // readable when the destructor runs
  std::jthread waiter_;
};

}  // namespace stele::cli
