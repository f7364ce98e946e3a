#include "state/database_clock.h"

#include <utility>

namespace stele::internal {
namespace {

constexpr int64_t kJumpMicros = int64_t{24} * 3600 * 1'000'000;

// Raises the atomic to at least `value`, and returns the previous value.
int64_t RaiseAtomic(std::atomic<int64_t>& atomic, int64_t value) {
  int64_t seen = atomic.load(std::memory_order_relaxed);
  while (seen < value && !atomic.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
  return seen;
}

int64_t SteadyMicros(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               start)
      .count();
}

}  // namespace

DatabaseClock::DatabaseClock(std::shared_ptr<TimestampClock> clock,
                             std::function<void(int64_t)> on_jump)
    : clock_(std::move(clock)),
      on_jump_(std::move(on_jump)),
      start_(std::chrono::steady_clock::now()),
      lead_(0),
      mark_(0) {
  if (clock_ == nullptr) lead_.store(WallMicros(), std::memory_order_relaxed);
}

int64_t DatabaseClock::WallMicros() const {
  if (clock_ != nullptr) return clock_->Now().micros();
  return Timestamp::From(std::chrono::system_clock::now()).micros();
}

int64_t DatabaseClock::Now() {
  const int64_t wall = WallMicros();
  if (clock_ != nullptr) {
    const int64_t before = RaiseAtomic(mark_, wall);
    if (before > 0 && wall - before > kJumpMicros && on_jump_ != nullptr) on_jump_(wall - before);
    return before > wall ? before : wall;
  }
  const int64_t steady = SteadyMicros(start_);
  const int64_t before = RaiseAtomic(lead_, wall - steady);
  if (wall - steady - before > kJumpMicros && on_jump_ != nullptr) on_jump_(wall - steady - before);
  return before + steady > wall ? before + steady : wall;
}

void DatabaseClock::RaiseTo(int64_t mark) {
  if (clock_ != nullptr) {
    RaiseAtomic(mark_, mark);
  } else {
    RaiseAtomic(lead_, mark - SteadyMicros(start_));
  }
}

}  // namespace stele::internal
