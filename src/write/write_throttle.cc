#include "write/write_throttle.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal {
namespace {

using std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr double kDrainShare = 0.3;  // the weight of a large measurement in the average
// A smaller flush has less weight: its syncs take most of its time.
constexpr double kDrainWholeBytes = 1024 * 1024.0;
constexpr double kDrainMin = 256 * 1024.0;  // bytes a second: writers always make progress
// The longest wait for one slot, so that pauses stay short.
constexpr auto kSlotTimeMax = std::chrono::milliseconds(20);

nanoseconds TimeOf(uint64_t bytes, double bytes_per_second) {
  return nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / bytes_per_second));
}

}  // namespace

double WriteThrottle::MemoryPressure(const WritePressure& pressure) {
  return static_cast<double>(pressure.memtable_bytes) /
         static_cast<double>(pressure.memtable_bytes_max);
}

double WriteThrottle::DebtPressure(const WritePressure& pressure) {
  return static_cast<double>(pressure.debt_bytes) / static_cast<double>(pressure.debt_bytes_max);
}

double WriteThrottle::RateLocked(double pressure) const {
  mutex_.AssertHeld();
  const double ease = 0.5 / pressure;
  return std::max(kDrainMin, drain_ * ease * ease);
}

nanoseconds WriteThrottle::BookMemorySlot(uint64_t bytes, double pressure, TimePoint now) {
  if (pressure <= kPressureFree) return nanoseconds(0);
  MutexLock lock(mutex_);
  const TimePoint slot = std::clamp(memory_slot_next_, now, now + kSlotTimeMax);
  memory_slot_next_ =
      slot + std::min<nanoseconds>(TimeOf(bytes, RateLocked(pressure)), kSlotTimeMax);
  return slot - now;
}

WriteThrottle::Slot WriteThrottle::BookDebtSlot(uint64_t bytes, double pressure, TimePoint now) {
  if (pressure <= kPressureFree) return {.bytes = bytes};
  MutexLock lock(mutex_);
  const double rate = RateLocked(pressure);
  const auto most =
      static_cast<uint64_t>(rate * std::chrono::duration<double>(kSlotTimeMax).count());
  const uint64_t slot_bytes = std::min(bytes, most);
  const TimePoint slot = std::max(debt_slot_next_, now);
  const nanoseconds time = TimeOf(slot_bytes, rate);
  debt_slot_next_ = slot + time;
  return {.wait = slot - now, .bytes = slot_bytes, .time = time};
}

void WriteThrottle::ReturnDebtSlot(const Slot& slot) {
  MutexLock lock(mutex_);
  debt_slot_next_ -= slot.time;
}

void WriteThrottle::AwaitMemorySlot(uint64_t bytes, double pressure) {
  const nanoseconds wait = BookMemorySlot(bytes, pressure, std::chrono::steady_clock::now());
  if (wait.count() <= 0) return;
  MutexLock lock(mutex_);
  drained_.WaitFor(mutex_, wait);
}

absl::Status WriteThrottle::AwaitDebtSlots(
    uint64_t bytes, const std::function<absl::StatusOr<double>()>& pressure) {
  while (bytes > 0) {
    STELE_ASSIGN_OR_RETURN(double pressure_now, pressure());
    const TimePoint now = std::chrono::steady_clock::now();
    const Slot slot = BookDebtSlot(bytes, pressure_now, now);
    bytes -= slot.bytes;
    for (nanoseconds left = slot.wait; left.count() > 0 && pressure_now > kPressureFree;
         left = now + slot.wait - std::chrono::steady_clock::now()) {
      {
        MutexLock lock(mutex_);
        drained_.WaitFor(mutex_, std::min<nanoseconds>(left, kSlotTimeMax));
      }
      const absl::StatusOr<double> pressure_then = pressure();
      if (!pressure_then.ok()) {
        ReturnDebtSlot(slot);
        return pressure_then.status();
      }
      pressure_now = *pressure_then;
    }
    if (pressure_now <= kPressureFree) ReturnDebtSlot(slot);
  }
  return absl::OkStatus();
}

void WriteThrottle::Drained(uint64_t bytes, std::chrono::nanoseconds took) {
  if (bytes == 0 || took.count() <= 0) return;
  const double rate = 1e9 * static_cast<double>(bytes) / static_cast<double>(took.count());
  MutexLock lock(mutex_);
  const double weight = std::min(1.0, static_cast<double>(bytes) / kDrainWholeBytes);
  drain_ += (is_measured_ ? kDrainShare : 1.0) * weight * (rate - drain_);
  is_measured_ = is_measured_ || weight == 1.0;
  drained_.SignalAll();
}

double WriteThrottle::drain_bytes_per_second() const {
  MutexLock lock(mutex_);
  return drain_;
}

}  // namespace stele::internal
