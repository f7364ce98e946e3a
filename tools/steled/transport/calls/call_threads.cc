#include "steled/transport/calls/call_threads.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

constexpr std::chrono::seconds kIdle(10);      // a thread without a permit ends after this time
constexpr std::chrono::milliseconds kLook(1);  // if the same call is still running, it is not short
constexpr int kLooksAwake = 100;               // after this many without a call the monitor sleeps

// The permit of a thread, which belongs to one CallThreads forever.
struct HeldPermit {
  CallPermit* permit = nullptr;
  uint64_t call = 0;  // the running call, if it is short
};
thread_local HeldPermit held_permit;

}  // namespace

CallThreads::CallThreads(std::function<Turn()> turn, int threads_max)
    : turn_(std::move(turn)),
      threads_max_(threads_max),
      permits_(std::max(2U, std::thread::hardware_concurrency())) {
  for (CallPermit& permit : permits_) free_.push_back(&permit);
  free_count_ = free_.size();
}

CallThreads::~CallThreads() { Wait(); }

bool CallThreads::Start() {
  const auto start_watch = [this] {
    watch_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  };
  if (!Completes(start_watch)) return false;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < kIdleMax; ++i) FillPermit();
  return count_ > 0;
}

void CallThreads::Wait() {
  watch_ = std::jthread();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return count_ == 0; });
}

// ---- threads and their permits ----

void CallThreads::Run() {
  while (true) {
    if (held_permit.permit == nullptr) held_permit.permit = AwaitPermit();
    if (held_permit.permit == nullptr) return;
    const Turn turn = turn_();
    if (turn == Turn::kDidWork) continue;
    const std::lock_guard lock(mutex_);
    // One thread must always wait for events.
    if (turn == Turn::kHadNothing && (count_ <= kIdleMax || waiting_.load() == 0)) continue;
    if (turn == Turn::kStop) {
      is_stopping_ = true;
      permit_freed_.notify_all();
    }
    FreePermit(held_permit.permit);
    --count_;
    // Under the lock, since the thread that waits for the last one destroys this object.
    ended_.notify_all();
    return;
  }
}

CallPermit* CallThreads::AwaitPermit() {
  std::unique_lock lock(mutex_);
  ++unpermitted_;
  const bool is_called =
      permit_freed_.wait_for(lock, kIdle, [this] { return is_stopping_ || !free_.empty(); });
  --unpermitted_;
  if (!is_called || is_stopping_) {
    --count_;
    ended_.notify_all();
    return nullptr;
  }
  CallPermit* const permit = free_.back();
  free_.pop_back();
  free_count_ = free_.size();
  return permit;
}

void CallThreads::FillPermit() {
  if (free_.empty()) return;
  if (unpermitted_ > 0) return permit_freed_.notify_one();
  if (count_ >= threads_max_) return;
  ++count_;
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::exception&) {
    // The system refuses a thread, or memory for it. The existing ones continue, and the monitor
    // tries again.
    --count_;
    lacks_thread_ = true;
    watch_sleeps_ = false;
    call_began_.notify_all();
  }
}

void CallThreads::FreePermit(CallPermit* permit) {
  free_.push_back(permit);
  free_count_ = free_.size();
}

// ---- calls ----

void CallThreads::BeginCall(bool is_short) {
  if (is_short) {
    held_permit.call = held_permit.permit->calls.fetch_add(1) + 1;
    if (watch_sleeps_.load()) {
      const std::lock_guard lock(mutex_);
      watch_sleeps_ = false;
      call_began_.notify_all();
    }
  } else {
    const std::lock_guard lock(mutex_);
    FreePermit(std::exchange(held_permit.permit, nullptr));
  }
  if (waiting_.load() > 0 || free_count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  FillPermit();
}

void CallThreads::EndCall() {
  if (held_permit.permit == nullptr) return;
  uint64_t call = held_permit.call;
  // The permit was taken away.
  if (!held_permit.permit->calls.compare_exchange_strong(call, call + 1))
    held_permit.permit = nullptr;
}

// ---- the monitor ----

void CallThreads::Watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (int looks = 0; !stop.stop_requested();) {
    if (looks < kLooksAwake) {
      call_began_.wait_for(lock, stop, kLook, [] { return false; });
    } else {
      // Calls that begin after this see the flag. The next look sees calls that began before.
      watch_sleeps_ = true;
      if (!ReclaimPermits()) call_began_.wait(lock, stop, [this] { return !watch_sleeps_; });
      watch_sleeps_ = false;
      looks = 0;
    }
    looks = ReclaimPermits() ? 0 : looks + 1;
  }
}

bool CallThreads::ReclaimPermits() {
  // A thread that waits for events tries it itself when it gets a call.
  if (std::exchange(lacks_thread_, false) && waiting_.load() == 0) FillPermit();
  bool has_run = false;
  for (CallPermit& permit : permits_) {
    uint64_t calls = permit.calls.load();
    const bool is_running = calls % 2 == 1;
    const bool is_same = calls == std::exchange(permit.seen, calls);
    has_run = has_run || is_running || !is_same;
    if (!is_running || !is_same || !permit.calls.compare_exchange_strong(calls, calls + 1))
      continue;
    FreePermit(&permit);
    if (waiting_.load() == 0) FillPermit();
  }
  return has_run || lacks_thread_;
}

}  // namespace stele::server
