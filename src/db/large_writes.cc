#include "db/large_writes.h"

namespace stele::internal {

LargeWrites::Hold::Hold(LargeWrites* writes, uint64_t bytes)
    : writes_(*writes), bytes_(bytes), is_alone_(bytes > writes->alone_bytes()), is_large_(writes->IsLarge(bytes)) {
  if (!is_large_) {
    writes_.AwaitSmall();
    return;
  }
  writes_.AwaitTurn(bytes_, is_alone_);
  if (!is_alone_) charge_ = MemoryCharge(&writes_.budget_, MemoryBudget::Use::kWrites, 2 * bytes_);
}

LargeWrites::Hold::~Hold() {
  if (is_large_) writes_.Leave(bytes_, is_alone_);
}

void LargeWrites::AwaitSmall() {
  if (!runs_alone_.load(std::memory_order_relaxed)) return;
  MutexLock lock(mutex_);
  while (runs_alone_.load(std::memory_order_relaxed)) changed_.Wait(mutex_);
}

void LargeWrites::AwaitTurn(uint64_t bytes, bool alone) {
  MutexLock lock(mutex_);
  const void* const turn = &bytes;
  waiting_.push_back(turn);
  const auto may_go = [&] {
    mutex_.AssertHeld();
    if (waiting_.front() != turn || runs_alone_.load(std::memory_order_relaxed)) return false;
    return bytes_ == 0 || (!alone && bytes_ + bytes <= alone_bytes());
  };
  while (!may_go()) changed_.Wait(mutex_);
  waiting_.pop_front();
  bytes_ += bytes;
  if (alone) runs_alone_.store(true, std::memory_order_relaxed);
  changed_.SignalAll();  // the next in turn may fit beside
}

void LargeWrites::Leave(uint64_t bytes, bool alone) {
  MutexLock lock(mutex_);
  bytes_ -= bytes;
  if (alone) runs_alone_.store(false, std::memory_order_relaxed);
  changed_.SignalAll();
}

}  // namespace stele::internal
