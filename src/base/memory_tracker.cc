#include "base/memory_tracker.h"

namespace stele::internal {

uint64_t MemoryTracker::bytes_in_all() const {
  uint64_t total = 0;
  for (const UseBytes& use : uses_) total += use.bytes.load(std::memory_order_relaxed);
  return total;
}

void MemoryTracker::SetShrinkable(Shrinkable* shrinkable) {
  shrinkable_ = shrinkable;
  if (member_ != nullptr) member_->SetShrinkable(shrinkable);
}

void MemoryTracker::MakeRoom() {
  // Other databases help only with the shared budget, not with the limit of this database.
  if (member_ != nullptr) {
    if (const uint64_t shared = member_->OverBytes(); shared > 0) member_->TakeFromOthers(shared);
  }
  const uint64_t over_bytes = bytes_over();
  if (over_bytes > 0 && shrinkable_ != nullptr) shrinkable_->Shrink(over_bytes);
}

uint64_t MemoryTracker::PortionOf(uint64_t bytes) const {
  if (member_ == nullptr || member_->share_bytes() >= budget_bytes_) return bytes;
  return static_cast<uint64_t>(static_cast<double>(bytes) *
                               static_cast<double>(member_->share_bytes()) /
                               static_cast<double>(budget_bytes_));
}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  std::swap(tracker_, other.tracker_);
  std::swap(use_, other.use_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MemoryCharge::Set(uint64_t bytes) {
  if (tracker_ == nullptr) return;
  if (bytes > bytes_) tracker_->Charge(use_, bytes - bytes_);
  if (bytes < bytes_) tracker_->Discharge(use_, bytes_ - bytes);
  bytes_ = bytes;
}

}  // namespace stele::internal
