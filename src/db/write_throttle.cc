#include "db/write_throttle.h"

#include <algorithm>

namespace stele::internal {
namespace {

constexpr double kDrainShare = 0.3;                       // of a new measurement in the average
constexpr double kDrainLeast = 256 * 1024.0;              // bytes a second: even then writers move
constexpr auto kTurnMax = std::chrono::milliseconds(20);  // one write waits no longer for its own turn, so that gaps stay short

}  // namespace

double WriteThrottle::PressureOf(const WritePressure& pressure) {
  const double memory = static_cast<double>(pressure.memtable_bytes) / static_cast<double>(pressure.memtable_bytes_max);
  const double debt = static_cast<double>(pressure.debt_bytes) / static_cast<double>(pressure.debt_bytes_max);
  return std::max(memory, debt);
}

std::chrono::nanoseconds WriteThrottle::BookTurn(uint64_t bytes, double pressure, std::chrono::steady_clock::time_point now) {
  if (pressure <= kPressureFree) return std::chrono::nanoseconds(0);
  MutexLock lock(mutex_);
  const double ease = 0.5 / pressure;
  const double rate = std::max(kDrainLeast, drain_ * ease * ease);
  const auto own = std::chrono::nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / rate));
  const auto turn = std::clamp(turn_next_, now, now + kTurnMax);
  turn_next_ = turn + std::min<std::chrono::nanoseconds>(own, kTurnMax);
  return turn - now;
}

void WriteThrottle::AwaitTurn(uint64_t bytes, double pressure) {
  const auto wait = BookTurn(bytes, pressure, std::chrono::steady_clock::now());
  if (wait.count() <= 0) return;
  MutexLock lock(mutex_);
  drained_.WaitFor(mutex_, wait);
}

void WriteThrottle::Drained(uint64_t bytes, std::chrono::nanoseconds took) {
  if (bytes == 0 || took.count() <= 0) return;
  const double rate = 1e9 * static_cast<double>(bytes) / static_cast<double>(took.count());
  MutexLock lock(mutex_);
  drain_ += kDrainShare * (rate - drain_);
  drained_.SignalAll();
}

double WriteThrottle::drain_bytes_per_second() const {
  MutexLock lock(mutex_);
  return drain_;
}

}  // namespace stele::internal
