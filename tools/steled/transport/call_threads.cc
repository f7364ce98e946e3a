#include "transport/call_threads.h"

#include <system_error>
#include <thread>
#include <utility>

namespace stele::server {

CallThreads::CallThreads(std::function<Turn()> turn, int threads_max) : turn_(std::move(turn)), threads_max_(threads_max) {}

CallThreads::~CallThreads() { Wait(); }

void CallThreads::Start() {
  for (int i = 0; i < kIdleMax; ++i) Add();
}

void CallThreads::Wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return count_ == 0; });
}

void CallThreads::Add() {
  const std::lock_guard lock(mutex_);
  if (count_ >= threads_max_) return;
  ++count_;
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error&) {
    --count_;  // the system has no thread to give; those that are there go on
  }
}

void CallThreads::Run() {
  while (true) {
    const Turn turn = turn_();
    if (turn == Turn::kDidWork) continue;
    const std::lock_guard lock(mutex_);
    // However many run calls, one has to be there for what comes.
    if (turn == Turn::kHadNothing && (count_ <= kIdleMax || waiting_.load() == 0)) continue;
    --count_;
    ended_.notify_all();  // under the lock: whoever waits for the last one ends this object
    return;
  }
}

}  // namespace stele::server
