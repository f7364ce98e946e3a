#include "state/database_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

// Limits the times of a caller's clock, so that sums and differences do not overflow.
constexpr int64_t kMicrosMax = int64_t{1} << 61;

class MachineClock final : public TimestampClock {
 public:
  Timestamp Now() override { return Timestamp::From(std::chrono::system_clock::now()); }
};

struct Reading {
  int64_t wall = 0;
  int64_t elapsed = 0;
  int64_t lead() const { return std::clamp(wall, -kMicrosMax, kMicrosMax) - elapsed; }
};

// A pause between the two reads makes the clock seem to be behind, never ahead.
Reading ReadClock(TimestampClock* clock) {
  const int64_t wall = clock->Now().micros();
  const int64_t elapsed = clock->Elapsed().count();
  return {.wall = wall, .elapsed = std::clamp<int64_t>(elapsed, 0, kMicrosMax)};
}

int64_t Distance(int64_t a, int64_t b) { return a < b ? b - a : a - b; }

std::string Text(int64_t micros) { return Timestamp::FromMicros(micros).ToString(); }

}  // namespace

DatabaseClock::DatabaseClock(std::shared_ptr<TimestampClock> clock,
                             std::function<void(const std::string&)> on_change)
    : clock_(clock != nullptr ? std::move(clock) : std::make_shared<MachineClock>()),
      is_authoritative_(clock_->is_authoritative()),
      on_change_(std::move(on_change)),
      now_lead_(is_authoritative_ ? 0 : ReadClock(clock_.get()).lead()),
      expected_lead_(now_lead_.load(std::memory_order_relaxed)),
      steps_lead_(now_lead_.load(std::memory_order_relaxed)) {}

DatabaseClock::State DatabaseClock::Read() {
  if (is_authoritative_) {
    const int64_t now = clock_->Now().micros();
    return {.now = now, .collection_time = now};
  }
  const Reading reading = ReadClock(clock_.get());
  const int64_t lead = reading.lead();
  const int64_t smoothed = SmoothedLead(lead);
  State state;
  state.now = smoothed == lead ? reading.wall : smoothed + reading.elapsed;
  const bool is_steady =
      is_trusted_.load(std::memory_order_relaxed) &&
      Distance(lead, expected_lead_.load(std::memory_order_relaxed)) < kClockSmoothedMicros;
  state.collection_time = state.now;
  if (is_steady) return state;
  std::string message;
  {
    MutexLock lock(mutex_);
    message = JudgeLocked(lead, reading.elapsed);
    // Under the lock: the verdict on another thread's reading is not valid for this one.
    state.is_trusted = is_trusted_.load(std::memory_order_relaxed);
    const int64_t expected = expected_lead_.load(std::memory_order_relaxed) + reading.elapsed;
    if (!state.is_trusted) state.collection_time = std::min(expected, state.now);
  }
  Report(message);
  return state;
}

int64_t DatabaseClock::SmoothedLead(int64_t lead) {
  int64_t seen = now_lead_.load(std::memory_order_relaxed);
  while (seen != lead) {
    if (lead < seen && seen - lead <= kClockSmoothedMicros) return seen;
    if (now_lead_.compare_exchange_weak(seen, lead, std::memory_order_relaxed)) break;
  }
  return lead;
}

int64_t DatabaseClock::CommitTime() {
  RaiseMark(CollectionTime());
  return mark();
}

int64_t DatabaseClock::FenceTime() {
  const int64_t collection_time = CollectionTime();
  RaiseMark(collection_time);
  const int64_t mark = std::min(this->mark(), kMicrosMax);
  return mark - std::max(collection_time, -kMicrosMax) > kClockGapMicros ? collection_time : mark;
}

void DatabaseClock::RaiseMark(int64_t mark) {
  int64_t seen = mark_.load(std::memory_order_relaxed);
  while (seen < mark && !mark_.compare_exchange_weak(seen, mark, std::memory_order_relaxed)) {
  }
}

void DatabaseClock::Begin() {
  if (is_authoritative_) return;
  const Reading reading = ReadClock(clock_.get());
  std::string message;
  {
    MutexLock lock(mutex_);
    const int64_t expected = std::min(mark(), kMicrosMax) - reading.elapsed;
    const int64_t lead = reading.lead();
    expected_lead_.store(expected, std::memory_order_relaxed);
    near_micros_ = kClockGapMicros;
    const bool is_near = Distance(lead, expected) <= kClockGapMicros;
    steps_lead_ = is_near ? lead : expected;
    steps_since_ = reading.elapsed;
    message = is_near ? TrustLocked(lead, reading.elapsed) : DistrustLocked(lead, reading.elapsed);
  }
  Report(message);
}

void DatabaseClock::Confirm() {
  const Reading reading = ReadClock(clock_.get());
  std::string message;
  {
    MutexLock lock(mutex_);
    steps_lead_ = reading.lead();
    steps_since_ = reading.elapsed;
    message = TrustLocked(reading.lead(), reading.elapsed);
  }
  Report(message);
}

std::string DatabaseClock::JudgeLocked(int64_t lead, int64_t elapsed) {
  mutex_.AssertHeld();
  if (is_trusted_.load(std::memory_order_relaxed)) {
    return IsSteadyLocked(lead, elapsed) ? TrustLocked(lead, elapsed)
                                         : DistrustLocked(lead, elapsed);
  }
  if (Distance(lead, steps_lead_) <= near_micros_) return TrustLocked(lead, elapsed);
  if (Distance(lead, agreed_lead_) > kClockToleranceMicros) {
    agreed_lead_ = lead;
    agreed_since_ = elapsed;
  }
  if (elapsed - agreed_since_ < kClockAgreementMicros) return "";
  steps_lead_ = lead;
  steps_since_ = elapsed;
  return TrustLocked(lead, elapsed);
}

bool DatabaseClock::IsSteadyLocked(int64_t lead, int64_t elapsed) {
  mutex_.AssertHeld();
  if (elapsed - steps_since_ >= kClockStepsMicros) {
    steps_lead_ = expected_lead_.load(std::memory_order_relaxed);
    steps_since_ = elapsed;
  }
  return Distance(lead, steps_lead_) <= kClockToleranceMicros;
}

std::string DatabaseClock::TrustLocked(int64_t lead, int64_t elapsed) {
  mutex_.AssertHeld();
  expected_lead_.store(lead, std::memory_order_relaxed);
  near_micros_ = kClockToleranceMicros;
  // Lowers the mark only if it is far ahead. Otherwise it stays, because a fence must not be older
  // than a commit (engine rule 8).
  if (std::min(mark(), kMicrosMax) - (lead + elapsed) > kClockGapMicros)
    mark_.store(lead + elapsed, std::memory_order_relaxed);
  if (is_trusted_.exchange(true, std::memory_order_relaxed)) return "";
  return fmt::format("the clock is trusted again: it is {}", Text(lead + elapsed));
}

std::string DatabaseClock::DistrustLocked(int64_t lead, int64_t elapsed) {
  mutex_.AssertHeld();
  agreed_lead_ = lead;
  agreed_since_ = elapsed;
  if (!is_trusted_.exchange(false, std::memory_order_relaxed)) return "";
  const int64_t expected = expected_lead_.load(std::memory_order_relaxed) + elapsed;
  return fmt::format(
      "the clock leapt: it says {}, and {} was expected; until it agrees with the elapsed time for "
      "{} minutes, cells are collected only up to the earlier of both; set the clock if it is "
      "wrong, or confirm it (stele clock confirm, SIGUSR1 to steled, Database::ConfirmClock)",
      Text(lead + elapsed), Text(expected), kClockAgreementMicros / 60'000'000);
}

void DatabaseClock::Report(const std::string& message) const {
  if (!message.empty() && on_change_ != nullptr) on_change_(message);
}

}  // namespace stele::internal
