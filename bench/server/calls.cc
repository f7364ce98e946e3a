#include "calls.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <latch>
#include <memory>
#include <thread>

#include "base/status.h"
#include "connection.h"

namespace stele_load {
namespace {

using stele_compare::Clock;

constexpr int kWaitMillisMax = 60'000;
constexpr int kEventsMax = 64;

// Makes the calls of one connection.
class Caller {
 public:
  Caller(const std::string& address, const Method& method, Part* part)
      : connection_(address), path_(method.path), part_(*part) {}

  // Makes all calls, and waits for each.
  void CallAll() {
    for (size_t i = 0; i < part_.script.requests.size() && part_.status.ok(); ++i) {
      const Clock::time_point begin = Clock::now();
      part_.status = connection_.Call(path_, part_.script.requests[i], &part_.answers[i]);
      part_.latencies.Add(Clock::now() - begin);
    }
  }

  // Starts the first call. Advance() continues it, and starts the following calls, without waiting.
  void Begin() {
    BeginNext();
    BeginWhatFollows();
  }
  void Advance() {
    connection_.Advance();
    BeginWhatFollows();
  }
  bool IsDone() const { return !is_calling_; }
  void Fail(const absl::Status& status) {
    part_.status = status;
    is_calling_ = false;
  }

  int descriptor() const { return connection_.descriptor(); }
  bool HasUnsent() const { return connection_.HasUnsent(); }

 private:
  void BeginNext() {
    if (next_ == part_.script.requests.size() || !part_.status.ok()) return;
    begin_ = Clock::now();
    connection_.Begin(path_, part_.script.requests[next_], &part_.answers[next_]);
    ++next_;
    is_calling_ = true;
  }
  void BeginWhatFollows() {
    while (is_calling_ && connection_.IsOver()) {
      is_calling_ = false;
      part_.status = connection_.End();
      part_.latencies.Add(Clock::now() - begin_);
      BeginNext();
    }
  }

  Connection connection_;
  const std::string_view path_;
  Part& part_;
  size_t next_ = 0;
  Clock::time_point begin_;
  bool is_calling_ = false;
};

// Waits until some of the callers can continue.
class Watch {
 public:
  Watch() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Watch() {
    if (epoll_ >= 0) close(epoll_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void Add(Caller* caller) { Control(EPOLL_CTL_ADD, caller, EPOLLIN); }
  void AwaitRoom(Caller* caller, bool awaits) {
    Control(EPOLL_CTL_MOD, caller, awaits ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
  void Remove(Caller* caller) { Control(EPOLL_CTL_DEL, caller, 0); }
  // Empty: no progress for a long time.
  std::span<const epoll_event> Next() {
    int count = 0;
    do {
      count = epoll_wait(epoll_, events_.data(), kEventsMax, kWaitMillisMax);
    } while (count < 0 && errno == EINTR);
    return std::span(events_).first(static_cast<size_t>(std::max(count, 0)));
  }

 private:
  void Control(int operation, Caller* caller, uint32_t events) const {
    epoll_event event = {};
    event.events = events;
    event.data.ptr = caller;
    epoll_ctl(epoll_, operation, caller->descriptor(), &event);
  }

  const int epoll_;
  std::array<epoll_event, kEventsMax> events_ = {};
};

using Callers = std::vector<std::unique_ptr<Caller>>;

void CallTogether(const Callers& callers) {
  Watch watch;
  size_t left = callers.size();
  for (const std::unique_ptr<Caller>& caller : callers) {
    caller->Begin();
    if (caller->IsDone()) {
      --left;
      continue;
    }
    watch.Add(caller.get());
    if (caller->HasUnsent()) watch.AwaitRoom(caller.get(), true);
  }
  while (left > 0) {
    const std::span<const epoll_event> events = watch.Next();
    if (events.empty()) break;
    for (const epoll_event& event : events) {
      auto* const caller = static_cast<Caller*>(event.data.ptr);
      const bool had_unsent = caller->HasUnsent();
      caller->Advance();
      if (caller->IsDone()) {
        watch.Remove(caller);
        --left;
      } else if (caller->HasUnsent() != had_unsent) {
        watch.AwaitRoom(caller, !had_unsent);
      }
    }
  }
  for (const std::unique_ptr<Caller>& caller : callers) {
    if (!caller->IsDone())
      caller->Fail(
          stele::internal::DeadlineExceeded("nothing moved for {} s", kWaitMillisMax / 1000));
  }
}

}  // namespace

double SendAll(const std::string& address, const Method& method, std::span<Part> parts) {
  const size_t thread_count =
      std::clamp<size_t>(std::thread::hardware_concurrency() / 2, 1, parts.size());
  std::latch ready(static_cast<std::ptrdiff_t>(thread_count) + 1);
  std::latch go(1);
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      Callers callers;
      for (size_t i = thread; i < parts.size(); i += thread_count)
        callers.push_back(std::make_unique<Caller>(address, method, &parts[i]));
      ready.count_down();
      go.wait();
      callers.size() == 1 ? callers.front()->CallAll() : CallTogether(callers);
    });
  }
  ready.arrive_and_wait();
  const Clock::time_point begin = Clock::now();
  go.count_down();
  threads.clear();
  return stele_compare::SecondsSince(begin);
}

}  // namespace stele_load
