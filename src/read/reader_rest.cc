#include "read/reader_rest.h"

namespace stele::internal {

void ReaderRest::AwaitRest() {
  uint8_t state = kAtRest;
  while (!state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire)) {
    state_.wait(state, std::memory_order_relaxed);
    state = kAtRest;
  }
}

void ReaderRest::ViewReplaced() {
  uint8_t state = kAtRest;
  // The word is left by an exchange also where one was left before: whoever takes it then knows of this view, too.
  while (
      !state_.compare_exchange_weak(state, state == kAtRest ? kHeld : kHeldAndTold, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if (state != kAtRest) return;
  take_up_();
  LetGo();
  state_.notify_all();
}

void ReaderRest::TakeUpAndLetGo() {
  uint8_t state = kHeld;
  do {
    state_.exchange(kHeld, std::memory_order_acquire);
    take_up_();
    state = kHeld;
  } while (!state_.compare_exchange_strong(state, kAtRest, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace stele::internal
