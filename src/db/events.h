// db/events.h: hands events to DatabaseOptions::on_event, one at a time.
//
// Threads:   thread-safe. The callback runs under this class's own mutex and under no other lock of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "stele/options.h"

namespace stele::internal {

class Events {
 public:
  explicit Events(std::function<void(const Event&)> on_event) : on_event_(std::move(on_event)) {}

  void Report(Event::Kind kind, std::string message, uint64_t bytes = 0, absl::Status status = {}) {
    if (on_event_ == nullptr) return;
    MutexLock lock(mutex_);
    on_event_(Event{.kind = kind, .message = std::move(message), .status = std::move(status), .bytes = bytes});
  }

 private:
  Mutex mutex_;
  const std::function<void(const Event&)> on_event_;
};

}  // namespace stele::internal
