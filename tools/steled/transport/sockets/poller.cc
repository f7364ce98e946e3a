#include "steled/transport/sockets/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

// A client usually sends its next request within this time after a response. Waking a sleeping
// thread takes as long.
constexpr std::chrono::microseconds kSpinTime(50);

}  // namespace

Poller::Poller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (epoll_ >= 0 && wake_ >= 0) Add(wake_, kWoken);
}

Poller::~Poller() {
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

absl::Status Poller::status() const {
  if (epoll_ >= 0 && wake_ >= 0) return absl::OkStatus();
  return Unavailable("no descriptors to listen with: raise the limit of open files");
}

bool Poller::Add(int descriptor, uint64_t id) { return Control(EPOLL_CTL_ADD, descriptor, id); }

void Poller::Rearm(int descriptor, uint64_t id) { Control(EPOLL_CTL_MOD, descriptor, id); }

std::optional<Poller::Event> Poller::SpinWait() {
  static const bool has_cores = std::thread::hardware_concurrency() > 1;
  if (!has_cores || is_spinning_.exchange(true)) return std::nullopt;
  std::optional<Event> event;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    event = Wait(std::chrono::milliseconds(0));
  } while (!event.has_value() && std::chrono::steady_clock::now() < end);
  is_spinning_ = false;
  return event;
}

bool Poller::Control(int operation, int descriptor, uint64_t id) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = id;
  return epoll_ctl(epoll_, operation, descriptor, &event) == 0;
}

void Poller::Wake() {
  // The counter is never read: each write is an event, and it does not overflow in practice.
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

std::optional<Poller::Event> Poller::Wait(std::chrono::milliseconds timeout) {
  epoll_event event{};
  if (epoll_wait(epoll_, &event, 1, static_cast<int>(timeout.count())) != 1) return std::nullopt;
  // A copy, since the kernel's struct is packed.
  return Event{.id = uint64_t{event.data.u64},
               .is_ending = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0};
}

}  // namespace stele::server
