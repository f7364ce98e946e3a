// state/events.h: passes events to DatabaseOptions::on_event, one at a time.
//
// Threads:   thread-safe. The callback runs under this class's mutex. docs/internals/locking.md
//            lists the other locks that may be held.
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
  explicit Events(std::function<void(const DatabaseEvent&)> on_event)
      : on_event_(std::move(on_event)) {}

  void Report(DatabaseEvent::Kind kind, std::string message, uint64_t bytes = 0,
              absl::Status status = {}) {
    if (on_event_ == nullptr) return;
    MutexLock lock(mutex_);
    on_event_(DatabaseEvent{
        .kind = kind, .message = std::move(message), .status = std::move(status), .bytes = bytes});
  }

 private:
  Mutex mutex_;
  const std::function<void(const DatabaseEvent&)> on_event_;
};

}  // namespace stele::internal
