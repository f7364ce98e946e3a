#include "transport/call_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace stele::server {
namespace {

constexpr std::chrono::seconds kIdle(10);      // after which a thread without a seat ends
constexpr std::chrono::milliseconds kLook(1);  // a call that is still the same one is not short
constexpr int kLooksAwake = 100;               // without a call, after which the watch sleeps

// What a thread sits on; it belongs to one CallThreads for good.
struct Sitting {
  CallSeat* seat = nullptr;
  uint64_t call = 0;  // the one that runs, if it is short
};
thread_local Sitting sitting;

}  // namespace

CallThreads::CallThreads(std::function<Turn()> turn, int threads_max)
    : turn_(std::move(turn)), threads_max_(threads_max), seats_(std::max(2U, std::thread::hardware_concurrency())) {
  for (CallSeat& seat : seats_) free_.push_back(&seat);
  free_count_ = free_.size();
}

CallThreads::~CallThreads() { Wait(); }

void CallThreads::Start() {
  {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < kIdleMax; ++i) FillSeat();
  }
  watch_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
}

void CallThreads::Wait() {
  watch_ = std::jthread();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return count_ == 0; });
}

// ---- threads and their seats ----

void CallThreads::Run() {
  while (true) {
    if (sitting.seat == nullptr) sitting.seat = AwaitSeat();
    if (sitting.seat == nullptr) return;
    const Turn turn = turn_();
    if (turn == Turn::kDidWork) continue;
    const std::lock_guard lock(mutex_);
    // However many run calls, one has to be there for what comes.
    if (turn == Turn::kHadNothing && (count_ <= kIdleMax || waiting_.load() == 0)) continue;
    if (turn == Turn::kStop) {
      is_stopping_ = true;
      seat_freed_.notify_all();
    }
    FreeSeat(sitting.seat);
    --count_;
    ended_.notify_all();  // under the lock: whoever waits for the last one ends this object
    return;
  }
}

CallSeat* CallThreads::AwaitSeat() {
  std::unique_lock lock(mutex_);
  ++seatless_;
  const bool is_called = seat_freed_.wait_for(lock, kIdle, [this] { return is_stopping_ || !free_.empty(); });
  --seatless_;
  if (!is_called || is_stopping_) {
    --count_;
    ended_.notify_all();
    return nullptr;
  }
  CallSeat* const seat = free_.back();
  free_.pop_back();
  free_count_ = free_.size();
  return seat;
}

void CallThreads::FillSeat() {
  if (free_.empty()) return;
  if (seatless_ > 0) return seat_freed_.notify_one();
  if (count_ >= threads_max_) return;
  ++count_;
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error&) {
    --count_;  // the system has no thread to give; those that are there go on
  }
}

void CallThreads::FreeSeat(CallSeat* seat) {
  free_.push_back(seat);
  free_count_ = free_.size();
}

// ---- calls ----

void CallThreads::BeginCall(bool is_short) {
  if (is_short) {
    sitting.call = sitting.seat->calls.fetch_add(1) + 1;
    if (watch_sleeps_.load()) {
      const std::lock_guard lock(mutex_);
      watch_sleeps_ = false;
      call_began_.notify_all();
    }
  } else {
    const std::lock_guard lock(mutex_);
    FreeSeat(std::exchange(sitting.seat, nullptr));
  }
  if (waiting_.load() > 0 || free_count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  FillSeat();
}

void CallThreads::EndCall() {
  if (sitting.seat == nullptr) return;
  uint64_t call = sitting.call;
  if (!sitting.seat->calls.compare_exchange_strong(call, call + 1)) sitting.seat = nullptr;  // it was taken away
}

// ---- the watch ----

void CallThreads::Watch(const std::stop_token& stop) {
  std::vector<uint64_t> seen(seats_.size());
  std::unique_lock lock(mutex_);
  for (int looks = 0; !stop.stop_requested();) {
    if (looks < kLooksAwake) {
      call_began_.wait_for(lock, stop, kLook, [] { return false; });
    } else {
      watch_sleeps_ = true;  // whoever begins a call from now on sees it; the next look sees who began before
      if (!LookAtSeats(&seen)) call_began_.wait(lock, stop, [this] { return !watch_sleeps_; });
      watch_sleeps_ = false;
      looks = 0;
    }
    looks = LookAtSeats(&seen) ? 0 : looks + 1;
  }
}

bool CallThreads::LookAtSeats(std::vector<uint64_t>* seen) {
  bool has_run = false;
  for (size_t i = 0; i < seats_.size(); ++i) {
    uint64_t calls = seats_[i].calls.load();
    const bool is_running = calls % 2 == 1;
    const bool is_same = calls == std::exchange((*seen)[i], calls);
    has_run = has_run || is_running || !is_same;
    if (!is_running || !is_same || !seats_[i].calls.compare_exchange_strong(calls, calls + 1)) continue;
    FreeSeat(&seats_[i]);
    if (waiting_.load() == 0) FillSeat();
  }
  return has_run;
}

}  // namespace stele::server
