// tools/stele/end_signals.h: handles SIGINT, SIGTERM and SIGHUP on a thread, for a command that has
// something to remove before its end.
//
// Signals that the process ignores stay ignored, for example SIGHUP under nohup. Make the objects
// before the process has other threads: they must not get these signals.
//
// Threads:   confined to the thread that makes them, except where noted.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <stop_token>

#include "absl/status/status.h"
#include "base/thread.h"

namespace stele::cli {

class EndSignals {
 public:
  // Calls `on_signal` on the thread of this object for each signal.
  explicit EndSignals(std::function<void(int signal)> on_signal);
  // The signals have their earlier effect again.
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // No call of `on_signal` runs or begins after this. Signals have no effect until the destructor.
  void StopWaiting();

  // Ends the process as the signal does without this object: a shell reports 128 plus its number.
  // Any thread may call it.
  [[noreturn]] static void EndProcess(int signal);

 private:
  void AwaitSignals();

  const std::function<void(int signal)> on_signal_;
  sigset_t signals_before_ = {};
  int signals_ = -1;
  int end_ = -1;  // readable after StopWaiting()
  internal::Thread waiter_;
};

// The first signal requests a stop, and the second one ends the process.
class StopSignals {
 public:
  StopSignals() : signals_([this](int signal) { OnSignal(signal); }) {}

  std::stop_token token() const { return stop_.get_token(); }
  // The first signal; 0: none came. Any thread may call it.
  int signal() const { return signal_; }
  // OK, or Cancelled after a signal. Any thread may call it.
  absl::Status status() const;

 private:
  void OnSignal(int signal);

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  EndSignals signals_;  // its thread uses the members above
};

}  // namespace stele::cli
