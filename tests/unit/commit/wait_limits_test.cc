#include "commit/wait_limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>

namespace stele::internal {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;
constexpr std::chrono::hours kMost{1};

TEST(WaitLimits, WithoutLimitsAWaitDoesNotEnd) {
  const WaitLimits none;
  EXPECT_FALSE(none.are_possible());
  EXPECT_EQ(none.Check(), absl::OkStatus());
  EXPECT_EQ(none.TimeLeft(kMost), kMost);
}

TEST(WaitLimits, AStopEndsAWait) {
  std::stop_source stop;
  const WaitLimits limits{.stop = stop.get_token()};
  EXPECT_TRUE(limits.are_possible());
  EXPECT_EQ(limits.Check(), absl::OkStatus());
  stop.request_stop();
  EXPECT_EQ(limits.Check().code(), absl::StatusCode::kCancelled);
}

TEST(WaitLimits, ADeadlineEndsAWait) {
  for (const TimePoint passed : {TimePoint::min(), std::chrono::steady_clock::now()}) {
    const WaitLimits limits{.deadline = passed};
    EXPECT_TRUE(limits.are_possible());
    EXPECT_EQ(limits.Check().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(limits.TimeLeft(kMost), std::chrono::nanoseconds(0));
  }
  const WaitLimits far{.deadline = TimePoint::max()};
  EXPECT_EQ(far.Check(), absl::OkStatus());
  EXPECT_EQ(far.TimeLeft(kMost), kMost);
  const WaitLimits near{.deadline = std::chrono::steady_clock::now() + kMost};
  EXPECT_LE(near.TimeLeft(2 * kMost), kMost);
}

}  // namespace
}  // namespace stele::internal
