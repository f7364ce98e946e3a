// read/idle_reader.h: lets a background job switch an idle reader, between two calls of its user,
// to a replaced view.
//
// Used by:   read/row_stream.cc calls Begin and End around each of its calls. views/pinned_views.cc
//            calls ViewReplaced when a job has written memtables that the reader pins.
// How:       only the holder may access the reader: its user's thread during a call, or a thread
//            that reports a replaced view while the reader is idle. If the reader is held, the
//            thread only sets kHeldAndReported, and the holder switches to the new view before it
//            releases the reader.
// Waits:     a call may wait for another thread that switches the view, which frees memory and does
//            nothing else. No thread waits for a call.
// Threads:   thread-safe, except Begin and End, which are for the reader's thread.
// Cost:      two atomic exchanges for each call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace stele::internal {

class IdleReader {
 public:
  // A new reader is held, as during a call. `switch_view` is called by the holder, on any thread.
  explicit IdleReader(std::function<void()> switch_view) : switch_view_(std::move(switch_view)) {}
  IdleReader(const IdleReader&) = delete;
  IdleReader& operator=(const IdleReader&) = delete;

  // The reader calls these at the beginning and the end of each call. Its destructor calls Begin a
  // last time, so that no other thread accesses it any more.
  void Begin() {
    uint8_t state = kIdle;
    if (!state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire)) AwaitIdle();
  }
  void End() { Release(); }

  // Call when the view that the reader pins was replaced. Either this call or the current holder
  // calls `switch_view`.
  void ViewReplaced();

 private:
  enum State : uint8_t { kIdle, kHeld, kHeldAndReported };

  void AwaitIdle();
  void Release() {
    uint8_t state = kHeld;
    if (!state_.compare_exchange_strong(state, kIdle, std::memory_order_release))
      SwitchAndRelease();
  }
  void SwitchAndRelease();

  const std::function<void()> switch_view_;
  std::atomic<uint8_t> state_{kHeld};  // a lock: taken with acquire, released with release
};

}  // namespace stele::internal
