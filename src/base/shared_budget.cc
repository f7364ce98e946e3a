#include "base/shared_budget.h"

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

constexpr uint64_t kUnchargedBytesMax = uint64_t{16} << 20;

}  // namespace

SharedBudget::SharedBudget(uint64_t bytes)
    : bytes_(bytes), charged_bytes_max_(bytes - std::min(bytes / 4, kUnchargedBytesMax)) {}

std::shared_ptr<SharedBudget::Member> SharedBudget::Join(
    const std::shared_ptr<SharedBudget>& budget) {
  MutexLock lock(budget->mutex_);
  const size_t count = budget->database_count() + 1;
  if (budget->bytes_ / 2 / count < kFloorBytesMin) return nullptr;
  const auto free_slot =
      std::find_if(budget->slots_.begin(), budget->slots_.end(),
                   [](const Slot& slot) { return !slot.is_used.load(std::memory_order_relaxed); });
  if (free_slot == budget->slots_.end()) return nullptr;
  free_slot->is_used.store(true, std::memory_order_relaxed);
  budget->count_.store(count, std::memory_order_relaxed);
  // Shrink the caches of the other databases here. They would do it at their next charge, which may
  // never come.
  for (const Slot& other : budget->slots_) {
    if (other.shrinkable == nullptr) continue;
    if (const uint64_t over = budget->OverBytes(other); over > 0) other.shrinkable->Shrink(over);
  }
  return std::make_shared<Member>(budget, &*free_slot);
}

SharedBudget::Member::~Member() {
  MutexLock lock(budget_->mutex_);
  slot_.shrinkable = nullptr;
  slot_.is_used.store(false, std::memory_order_relaxed);
  budget_->count_.fetch_sub(1, std::memory_order_relaxed);
}

void SharedBudget::Member::SetShrinkable(Shrinkable* shrinkable) {
  MutexLock lock(budget_->mutex_);
  slot_.shrinkable = shrinkable;
}

uint64_t SharedBudget::OverBytes(const Slot& slot) const {
  const uint64_t total = charged_bytes();
  if (total <= charged_bytes_max_ / 2) return 0;  // all floors are free
  const uint64_t floor = FloorBytes();
  const uint64_t own = slot.charged_bytes.load(std::memory_order_relaxed);
  if (own <= floor) return 0;
  uint64_t unused_floors = 0;
  for (const Slot& other : slots_) {
    if (&other == &slot || !other.is_used.load(std::memory_order_relaxed)) continue;
    const uint64_t bytes = other.charged_bytes.load(std::memory_order_relaxed);
    unused_floors += floor - std::min(floor, bytes);
  }
  const uint64_t needed = total + unused_floors;
  return std::min(needed - std::min(needed, charged_bytes_max_), own - floor);
}

void SharedBudget::TakeFromOthers(const Slot& slot, uint64_t wanted_bytes) {
  const uint64_t share = charged_bytes_max_ / count_at_least_one();
  const uint64_t own = slot.charged_bytes.load(std::memory_order_relaxed);
  if (own > share) return;
  MutexLock lock(mutex_);
  uint64_t taken_bytes = 0;
  for (Slot& other : slots_) {
    if (taken_bytes >= wanted_bytes) break;
    if (&other == &slot || other.shrinkable == nullptr) continue;
    const uint64_t before = other.charged_bytes.load(std::memory_order_relaxed);
    if (before <= share) continue;
    other.shrinkable->Shrink(std::min(wanted_bytes - taken_bytes, before - share));
    const uint64_t after = other.charged_bytes.load(std::memory_order_relaxed);
    taken_bytes += before - std::min(before, after);
  }
}

}  // namespace stele::internal
