// transport/poller.h: tells threads which descriptors have something to read or take something to write.
//
// Each change of a descriptor is told once, to one thread (edge-triggered): whoever is told goes on until it would have to wait.
//
// Threads:   thread-safe; any number may Wait, and one of them gets each event, the one that waited last first.
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

  // Whether the system gave what it takes.
  absl::Status status() const;
  // Events of `descriptor` come with `id`, until it is closed. False: the system has no room for it.
  bool Add(int descriptor, uint64_t id);
  // Events that are there already are told again.
  void Repeat(int descriptor, uint64_t id);
  // One thread gets kWoken.
  void Wake();
  struct Event {
    uint64_t id = 0;
    bool is_ending = false;  // the other side sends no more, or there is no connection any more: that is told once
  };
  // None: nothing happened in that time.
  std::optional<Event> Wait(std::chrono::milliseconds timeout);
  // The same without sleeping, for some microseconds: for when a core would have nothing else to do. One thread at a time; others are
  // answered none at once.
  std::optional<Event> Watch();

  static constexpr uint64_t kWoken = 0;

 private:
  bool Control(int operation, int descriptor, uint64_t id);

  std::atomic<bool> is_watched_ = false;
  const int epoll_;
  const int wake_;
};

}  // namespace stele::server
