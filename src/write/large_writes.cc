#include "write/large_writes.h"

#include <chrono>

#include "base/status.h"

namespace stele::internal {

LargeWrites::Guard::Guard(LargeWrites* writes, uint64_t bytes, const Check& check)
    : writes_(*writes),
      bytes_(bytes),
      is_alone_(bytes > writes->alone_bytes()),
      is_large_(writes->IsLarge(bytes)) {
  status_ = is_large_ ? writes_.AwaitPermit(bytes_, is_alone_, check) : writes_.AwaitSmall(check);
  if (status_.ok() && is_large_ && !is_alone_)
    charge_ = MemoryCharge(&writes_.memory_tracker_, MemoryTracker::Use::kWrites, 2 * bytes_);
}

LargeWrites::Guard::~Guard() {
  if (status_.ok() && is_large_) writes_.Leave(bytes_, is_alone_);
}

absl::Status LargeWrites::AwaitChange(const Guard::Check& check) {
  if (!check) {
    changed_.Wait(mutex_);
    return absl::OkStatus();
  }
  STELE_RETURN_IF_ERROR(check());
  changed_.WaitFor(mutex_, std::chrono::milliseconds(20));
  return absl::OkStatus();
}

absl::Status LargeWrites::AwaitSmall(const Guard::Check& check) {
  if (!runs_alone_.load(std::memory_order_relaxed)) return absl::OkStatus();
  MutexLock lock(mutex_);
  while (runs_alone_.load(std::memory_order_relaxed)) STELE_RETURN_IF_ERROR(AwaitChange(check));
  return absl::OkStatus();
}

absl::Status LargeWrites::AwaitPermit(uint64_t bytes, bool alone, const Guard::Check& check) {
  MutexLock lock(mutex_);
  const void* const ticket = &bytes;
  waiting_.push_back(ticket);
  const auto may_go = [&] {
    mutex_.AssertHeld();
    if (waiting_.front() != ticket || runs_alone_.load(std::memory_order_relaxed)) return false;
    return bytes_ == 0 || (!alone && bytes_ + bytes <= alone_bytes());
  };
  while (!may_go()) {
    const absl::Status status = AwaitChange(check);
    if (status.ok()) continue;
    std::erase(waiting_, ticket);
    changed_.SignalAll();  // the next in order may be admitted
    return status;
  }
  waiting_.pop_front();
  bytes_ += bytes;
  if (alone) runs_alone_.store(true, std::memory_order_relaxed);
  changed_.SignalAll();  // the next one may fit now
  return absl::OkStatus();
}

void LargeWrites::Leave(uint64_t bytes, bool alone) {
  MutexLock lock(mutex_);
  bytes_ -= bytes;
  if (alone) runs_alone_.store(false, std::memory_order_relaxed);
  changed_.SignalAll();
}

}  // namespace stele::internal
