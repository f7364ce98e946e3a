// steled/transport/sockets/poller.h: reports which descriptors can be read or written.
//
// Each change of a descriptor is reported once, to one thread (edge-triggered), which continues
// until it would have to wait.
//
// Threads:   thread-safe; any number may Wait. Each event goes to one of them, the one that began
//            to wait last.
// Source:    epoll(7).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace stele::server {

class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // The error if the system refused the resources.
  absl::Status status() const;
  // Watches `descriptor` until it is closed. Its events have the id `id`. Returns false if the
  // system has no room for it.
  bool Add(int descriptor, uint64_t id);
  // Reports pending events again.
  void Rearm(int descriptor, uint64_t id);
  // One thread gets kWoken.
  void Wake();
  struct Event {
    uint64_t id = 0;
    // The other side sends no more, or the connection is gone: reported once.
    bool is_ending = false;
  };
  // Returns nullopt if nothing happened in that time.
  std::optional<Event> Wait(std::chrono::milliseconds timeout);
  // Like Wait, but polls for some microseconds without sleeping, while a core would be idle. One
  // thread at a time; others get nullopt at once.
  std::optional<Event> SpinWait();

  static constexpr uint64_t kWoken = 0;

 private:
  bool Control(int operation, int descriptor, uint64_t id);

  std::atomic<bool> is_spinning_ = false;
  const int epoll_;
  const int wake_;
};

}  // namespace stele::server
