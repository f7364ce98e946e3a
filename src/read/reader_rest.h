// read/reader_rest.h: whether a reader is at rest, between two calls of its user, so that another thread may do for it what cannot wait for
// the next call.
//
// Path:      row_stream -> Begin, End around each of its calls; db's pinned views -> ViewReplaced, when a job wrote what the reader pins.
// How:       who holds it may touch the reader: its user's thread during a call, or a thread that was told of a replaced view while the
//            reader was at rest. Who finds it held leaves word, and whoever holds it sees to it before letting go.
// Waits:     a call for another thread that takes the view up, which lets go of memory and does nothing else. Nobody waits for a call.
// Threads:   thread-safe but for Begin and End, which are the reader's.
// Cost:      two atomic exchanges for each call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace stele::internal {

class ReaderRest {
 public:
  // Held at first, as by a call. `take_up` is called by who holds it, on any thread.
  explicit ReaderRest(std::function<void()> take_up) : take_up_(std::move(take_up)) {}
  ReaderRest(const ReaderRest&) = delete;
  ReaderRest& operator=(const ReaderRest&) = delete;

  // The reader's: a call begins, and ends. A reader that goes begins a last one, so that no other thread touches it any more.
  void Begin() {
    uint8_t state = kAtRest;
    if (!state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire)) AwaitRest();
  }
  void End() { LetGo(); }

  // The view that the reader pins was replaced: `take_up` is called here and now, or by who holds it.
  void ViewReplaced();

 private:
  enum State : uint8_t { kAtRest, kHeld, kHeldAndTold };

  void AwaitRest();
  void LetGo() {
    uint8_t state = kHeld;
    if (!state_.compare_exchange_strong(state, kAtRest, std::memory_order_release)) TakeUpAndLetGo();
  }
  void TakeUpAndLetGo();

  const std::function<void()> take_up_;
  std::atomic<uint8_t> state_{kHeld};  // a lock: taken with acquire, let go of with release
};

}  // namespace stele::internal
