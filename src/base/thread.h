// base/thread.h: a thread whose start may fail. std::thread throws if the system refuses a thread,
// which would end the process.
//
// Threads:   confined to its owner's thread.
#pragma once

#include <pthread.h>

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace stele::internal {

class Thread {
 public:
  Thread() = default;
  // Call Join() before, except in a forked child, which does not have the thread.
  ~Thread() = default;
  Thread(Thread&& other) noexcept : thread_(std::exchange(other.thread_, std::nullopt)) {}
  Thread& operator=(Thread&&) = delete;

  // Calls (owner->*kRun)() on a new thread. The object must have none. Returns 0, or the error
  // number if the system refuses a thread: not a Status, for which there may be no memory.
  template <auto kRun, typename Owner>
  [[nodiscard]] int Start(Owner* owner) {
    const auto run = [](void* argument) -> void* {
      (static_cast<Owner*>(argument)->*kRun)();
      return nullptr;
    };
    return Create(run, owner);
  }
  bool is_started() const { return thread_.has_value(); }
  // Waits until the function has returned. Does nothing without a thread.
  void Join();

 private:
  int Create(void* (*run)(void*), void* argument);

  std::optional<pthread_t> thread_;
};

// Returns ResourceExhausted with `context` for an error of Thread::Start; OK for 0.
absl::Status StartStatus(int error, std::string_view context);

}  // namespace stele::internal
