// Tests the delayed write rate. Time is simulated.
#include "write/write_throttle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "support/base_sanitized.h"

namespace stele::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using TimePoint = std::chrono::steady_clock::time_point;

// Writers that each request admission again as soon as their last admission started.
class Writers {
 public:
  explicit Writers(double pressure) : pressure_(pressure) {}

  void Add(uint64_t write_bytes) {
    by_time_.emplace(TimePoint(), writers_.size());
    writers_.push_back({.write_bytes = write_bytes});
  }

  void RunUntil(TimePoint end) {
    while (by_time_.top().first < end) {
      const size_t index = by_time_.top().second;
      by_time_.pop();
      Write(&writers_[index], end);
      by_time_.emplace(writers_[index].now, index);
    }
  }

  uint64_t granted_bytes() const { return granted_bytes_; }
  std::chrono::nanoseconds longest_wait(size_t index) const { return writers_[index].longest_wait; }

 private:
  struct Writer {
    uint64_t write_bytes = 0;
    uint64_t bytes_left = 0;
    TimePoint now;
    TimePoint begin;
    std::chrono::nanoseconds longest_wait{0};
  };

  // Admits one write.
  void Write(Writer* writer, TimePoint end) {
    if (writer->bytes_left == 0) {
      writer->bytes_left = writer->write_bytes;
      writer->begin = writer->now;
    }
    const WriteThrottle::Slot slot =
        throttle_.BookDebtSlot(writer->bytes_left, pressure_, writer->now);
    ASSERT_GT(slot.bytes, 0u);
    ASSERT_LE(slot.bytes, writer->bytes_left);
    writer->now += slot.wait;
    writer->bytes_left -= slot.bytes;
    if (writer->bytes_left > 0 || writer->now >= end) return;
    granted_bytes_ += writer->write_bytes;
    writer->longest_wait =
        std::max(writer->longest_wait, std::chrono::nanoseconds(writer->now - writer->begin));
  }

  WriteThrottle throttle_;
  const double pressure_;
  std::vector<Writer> writers_;
  // The time and the index of each writer, the earliest first.
  using Waiting = std::pair<TimePoint, size_t>;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> by_time_;
  uint64_t granted_bytes_ = 0;
};

// The write rate at this pressure, as a share of the bytes compacted per second.
uint64_t RateAt(double pressure) {
  return static_cast<uint64_t>(WriteThrottle().drain_bytes_per_second() * 0.25 /
                               (pressure * pressure));
}

TEST(WriteThrottleTest, BelowTheFreeBoundNobodyWaits) {
  WriteThrottle throttle;
  for (int i = 0; i < 100; ++i) {
    const WriteThrottle::Slot slot =
        throttle.BookDebtSlot(1 << 30, WriteThrottle::kPressureFree, TimePoint());
    EXPECT_EQ(slot.wait.count(), 0);
    EXPECT_EQ(slot.bytes, uint64_t{1} << 30);
    EXPECT_EQ(throttle.BookMemorySlot(1 << 30, WriteThrottle::kPressureFree, TimePoint()).count(),
              0);
  }
}

// Nothing else limits the debt. All writers together get the rate, however many there are and
// however much each writes at once.
TEST(WriteThrottleTest, DebtGrowsNoFasterThanTheRateHoweverManyWrite) {
  for (const double pressure : {0.3, 1.0, 2.0, 4.0}) {
    for (const uint64_t write_bytes : {uint64_t{500}, uint64_t{512} << 10, uint64_t{8} << 20}) {
      for (const int count : {1, 8, 64}) {
        Writers writers(pressure);
        for (int i = 0; i < count; ++i) writers.Add(write_bytes);
        const auto time = seconds(write_bytes > 500 ? ReducedPart(1000) : 1);
        writers.RunUntil(TimePoint() + time);
        const double most =
            static_cast<double>(RateAt(pressure)) * static_cast<double>(time.count());
        EXPECT_LE(static_cast<double>(writers.granted_bytes()), 1.1 * most)
            << count << " of " << write_bytes << " at " << pressure;
        EXPECT_GE(static_cast<double>(writers.granted_bytes()), 0.5 * most)
            << count << " of " << write_bytes << " at " << pressure;
      }
    }
  }
}

TEST(WriteThrottleTest, AtAnyPressureWritersMove) {
  Writers writers(100);
  for (int i = 0; i < 8; ++i) writers.Add(512 << 10);
  writers.RunUntil(TimePoint() + seconds(1));
  EXPECT_LE(writers.granted_bytes(), 512u << 10);
  writers.RunUntil(TimePoint() + seconds(60));
  EXPECT_LE(writers.granted_bytes(), 60u * 256 << 10);
  EXPECT_GE(writers.granted_bytes(), 40u * 256 << 10);
}

// A small write waits for one admission of each large write, not for all of it.
TEST(WriteThrottleTest, SmallWritesPassLargeOnes) {
  Writers writers(4.0);
  writers.Add(500);
  for (int i = 0; i < 3; ++i) writers.Add(64 << 20);
  writers.RunUntil(TimePoint() + seconds(100));
  EXPECT_LE(writers.longest_wait(0), milliseconds(61));
}

// The guess from before the first measurement has no further effect.
TEST(WriteThrottleTest, TheFirstMeasurementCountsWhole) {
  WriteThrottle throttle;
  throttle.Drained(10'000'000, seconds(1));
  EXPECT_DOUBLE_EQ(throttle.drain_bytes_per_second(), 10e6);
  throttle.Drained(20'000'000, seconds(1));
  EXPECT_DOUBLE_EQ(throttle.drain_bytes_per_second(), 13e6);
}

// Memory also has a write stall, so no write waits long for its admission.
TEST(WriteThrottleTest, AMemorySlotIsShort) {
  WriteThrottle throttle;
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(throttle.BookMemorySlot(64 << 20, 100, TimePoint()), milliseconds(20));
  EXPECT_GT(throttle.BookMemorySlot(500, 0.3, TimePoint()).count(), 0);
}

TEST(WriteThrottleTest, WaitingEndsWhenThePressureIsGoneOrTheWriteIsRefused) {
  WriteThrottle throttle;
  // A quarter of an hour, so that only the calls below end the waits.
  const TimePoint now = std::chrono::steady_clock::now();
  for (int i = 0; i < 50'000; ++i) throttle.BookDebtSlot(1 << 20, 1000, now);
  double pressure = 1000;
  int asked = 0;
  const auto fall = [&]() -> absl::StatusOr<double> { return ++asked < 4 ? pressure : 0.0; };
  EXPECT_EQ(throttle.AwaitDebtSlots(uint64_t{1} << 40, fall), absl::OkStatus());
  EXPECT_EQ(asked, 5) << "the last slot, too, is asked for";
  const auto fail = [&]() -> absl::StatusOr<double> {
    return ++asked < 8 ? absl::StatusOr<double>(pressure) : absl::FailedPreconditionError("closed");
  };
  EXPECT_EQ(throttle.AwaitDebtSlots(uint64_t{1} << 40, fail).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(WriteThrottleTest, SmallFlushesHardlyChangeTheMeasuredRate) {
  WriteThrottle throttle;
  for (int i = 0; i < 20; ++i) throttle.Drained(100'000'000, seconds(1));
  EXPECT_NEAR(throttle.drain_bytes_per_second(), 100e6, 1e6);
  for (int i = 0; i < 20; ++i) throttle.Drained(8'000, milliseconds(20));
  EXPECT_GT(throttle.drain_bytes_per_second(), 90e6);
  for (int i = 0; i < 20; ++i) throttle.Drained(50'000'000, seconds(1));
  EXPECT_NEAR(throttle.drain_bytes_per_second(), 50e6, 1e6);
}

// Otherwise writers with deadlines that try again would book slots faster than they pass.
TEST(WriteThrottleTest, AWriterThatGivesUpReturnsItsSlot) {
  WriteThrottle throttle;
  const TimePoint now = std::chrono::steady_clock::now();
  constexpr double kPressure = 1000;
  constexpr uint64_t kSlotBytes = 5000;  // of 20 ms at the lowest rate
  for (int i = 0; i < 50'000; ++i) throttle.BookDebtSlot(kSlotBytes, kPressure, now);
  const auto next_wait = [&] {
    const WriteThrottle::Slot slot = throttle.BookDebtSlot(kSlotBytes, kPressure, now);
    throttle.ReturnDebtSlot(slot);
    return slot.wait;
  };
  const std::chrono::nanoseconds before = next_wait();
  ASSERT_GT(before, std::chrono::minutes(5));
  EXPECT_EQ(next_wait(), before);
  int asked = 0;
  const auto give_up = [&]() -> absl::StatusOr<double> {
    return ++asked == 1 ? absl::StatusOr<double>(kPressure) : absl::CancelledError();
  };
  EXPECT_TRUE(absl::IsCancelled(throttle.AwaitDebtSlots(kSlotBytes, give_up)));
  EXPECT_EQ(next_wait(), before);
  asked = 0;
  const auto relax = [&]() -> absl::StatusOr<double> { return ++asked == 1 ? kPressure : 0.0; };
  EXPECT_TRUE(throttle.AwaitDebtSlots(kSlotBytes, relax).ok());
  EXPECT_EQ(next_wait(), before);
}

}  // namespace
}  // namespace stele::internal
