#include "read/idle_reader.h"

namespace stele::internal {

void IdleReader::AwaitIdle() {
  uint8_t state = kIdle;
  while (!state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire)) {
    state_.wait(state, std::memory_order_relaxed);
    state = kIdle;
  }
}

void IdleReader::ViewReplaced() {
  uint8_t state = kIdle;
  // Exchange the state even if a replacement was reported before. Then the holder that acquires the
  // mark also sees this view.
  while (!state_.compare_exchange_weak(state, state == kIdle ? kHeld : kHeldAndReported,
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if (state != kIdle) return;
  switch_view_();
  Release();
  state_.notify_all();
}

void IdleReader::SwitchAndRelease() {
  uint8_t state = kHeld;
  do {
    state_.exchange(kHeld, std::memory_order_acquire);
    switch_view_();
    state = kHeld;
  } while (!state_.compare_exchange_strong(state, kIdle, std::memory_order_release,
                                           std::memory_order_relaxed));
}

}  // namespace stele::internal
