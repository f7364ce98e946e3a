#include "base/memory_budget.h"

namespace stele::internal {

uint64_t MemoryBudget::bytes_in_all() const {
  uint64_t total = 0;
  for (const UseBytes& use : uses_) total += use.bytes.load(std::memory_order_relaxed);
  return total;
}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(use_, other.use_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MemoryCharge::Set(uint64_t bytes) {
  if (budget_ == nullptr) return;
  if (bytes > bytes_) budget_->Charge(use_, bytes - bytes_);
  if (bytes < bytes_) budget_->Discharge(use_, bytes_ - bytes);
  bytes_ = bytes;
}

}  // namespace stele::internal
