#include "memtable/active_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace stele::internal {
namespace {

struct Range {
  int64_t start;
  int64_t newest;
  CommitPoint commit;
};

// Goes from new to old and compares the result at each timestamp with a search of all ranges.
TEST(ActiveRangesTest, AnswersWhatASearchOfAllRangesDoes) {
  constexpr int64_t kTimestamps = 60;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Range> ranges;
    for (uint64_t left = random.Below(40); left > 0; --left) {
      const auto newest = static_cast<int64_t>(random.Below(kTimestamps));
      const auto start =
          random.OneIn(4) ? 0
                          : static_cast<int64_t>(random.Below(static_cast<uint64_t>(newest) + 1));
      ranges.push_back(
          {start,
           newest,
           {.sequence = 1 + ranges.size() / 3, .position = static_cast<uint32_t>(ranges.size())}});
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return a.newest != b.newest ? a.newest > b.newest : a.commit > b.commit;
    });
    ActiveRanges active;
    size_t next = 0;
    for (int64_t timestamp = kTimestamps - 1; timestamp >= 0; --timestamp) {
      for (; next < ranges.size() && ranges[next].newest == timestamp; ++next) {
        active.Add(timestamp, ranges[next].start, ranges[next].commit);
      }
      if (random.OneIn(3)) continue;  // a column does not have a version at every timestamp
      CommitPoint hidden, rest;
      for (size_t i = 0; i < next; ++i) {
        if (ranges[i].start <= timestamp) hidden = std::max(hidden, ranges[i].commit);
        if (ranges[i].start == 0) rest = std::max(rest, ranges[i].commit);
      }
      ASSERT_EQ(active.HiddenAt(timestamp), hidden) << timestamp;
      ASSERT_EQ(active.HidesTheRest(), rest) << timestamp;
    }
  }
}

// A long series of deletes, each of a later time range. None of them reaches the next.
TEST(ActiveRangesTest, KeepsNoneThatEndedAboveTheCurrentTimestamp) {
  ActiveRanges active;
  for (uint64_t commit = 1000; commit > 0; --commit) {
    const auto start = static_cast<int64_t>(20 * commit);
    active.Add(start + 10, start, {.sequence = commit, .position = 0});
    EXPECT_EQ(active.size(), 1u);
  }
  EXPECT_EQ(active.HiddenAt(20), (CommitPoint{.sequence = 1, .position = 0}));
  EXPECT_EQ(active.HiddenAt(19), CommitPoint{});
  EXPECT_EQ(active.size(), 0u);
}

TEST(ActiveRangesTest, KeepsNoneThatAnotherMakesNeedless) {
  ActiveRanges active;
  // Each starts at an older timestamp, and is newer.
  for (uint64_t commit = 1; commit <= 1000; ++commit) {
    const auto reach = static_cast<int64_t>(2000 - commit);
    active.Add(reach, reach - 1000, {.sequence = commit, .position = 0});
    EXPECT_EQ(active.size(), 1u);
  }
}

}  // namespace
}  // namespace stele::internal
