// tests/support/model_leaping_clock.h: a clock that may leap, like the clock of a machine. Time
// passes by Pass(). Leap() sets the clock without any time passing.
//
// Threads:   Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "stele/timestamp.h"

namespace stele {

class LeapingClock final : public TimestampClock {
 public:
  explicit LeapingClock(Timestamp now) : now_micros_(now.micros()) {}
  Timestamp Now() override { return Timestamp::FromMicros(now_micros_.load()); }
  std::chrono::microseconds Elapsed() override {
    return std::chrono::microseconds(elapsed_micros_.load());
  }
  void Pass(std::chrono::microseconds time) {
    elapsed_micros_ += time.count();
    now_micros_ += time.count();
  }
  void Leap(std::chrono::microseconds step) { now_micros_ += step.count(); }
  void Set(Timestamp now) { now_micros_ = now.micros(); }

 private:
  std::atomic<int64_t> now_micros_;
  std::atomic<int64_t> elapsed_micros_{1'000'000};
};

}  // namespace stele
