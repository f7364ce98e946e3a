// Tests the counts of operations per interval, with times that the test gives.
#include "lab/measure/interval_counts.h"

#include <gtest/gtest.h>

#include <numeric>

namespace stele::internal::lab {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Counts = std::vector<uint64_t>;

TEST(IntervalCountsTest, AnIntervalBeginsAtItsFirstNanosecond) {
  IntervalCounts counts;
  EXPECT_EQ(counts.counts(), Counts());
  for (const nanoseconds time : {nanoseconds(0), nanoseconds(999'999), nanoseconds(1'000'000),
                                 nanoseconds(3'000'000), nanoseconds(3'999'999)})
    counts.Record(time);
  EXPECT_EQ(counts.width(), milliseconds(1));
  EXPECT_EQ(counts.counts(), (Counts{2, 1, 0, 2}));
}

TEST(IntervalCountsTest, NeighboursOfALongerRunBecomeOne) {
  IntervalCounts counts;
  for (int i = 0; i < 256; ++i) counts.Record(milliseconds(i));
  counts.Record(milliseconds(4));
  EXPECT_EQ(counts.width(), milliseconds(1));
  EXPECT_EQ(counts.counts().size(), 256u);
  counts.Record(milliseconds(256));
  EXPECT_EQ(counts.width(), milliseconds(2));
  Counts expected(129, 2);
  expected[2] = 3;
  expected[128] = 1;
  EXPECT_EQ(counts.counts(), expected);
}

TEST(IntervalCountsTest, TheNumberOfIntervalsHasALimit) {
  IntervalCounts counts;
  uint64_t operations = 0;
  // Up to 97 days.
  for (nanoseconds time(0); time < std::chrono::hours(24 * 97); time = 2 * time + nanoseconds(1)) {
    counts.Record(time);
    ++operations;
    EXPECT_LE(counts.counts().size(), IntervalCounts::kIntervalsMax);
    EXPECT_GT(counts.counts().back(), 0u);
    EXPECT_EQ(std::accumulate(counts.counts().begin(), counts.counts().end(), uint64_t{0}),
              operations);
  }
  EXPECT_GT(counts.counts().size(), IntervalCounts::kIntervalsMax / 2);
  IntervalCounts longest;
  longest.Record(nanoseconds::max());
  EXPECT_LE(longest.counts().size(), IntervalCounts::kIntervalsMax);
}

TEST(IntervalCountsTest, CountsOfDifferentWidthsAreAdded) {
  IntervalCounts narrow;
  for (const int64_t time : {0, 1, 2, 3, 4}) narrow.Record(milliseconds(time));
  IntervalCounts wide;
  wide.Record(microseconds(1500));
  wide.Record(milliseconds(600));  // 4 ms
  IntervalCounts one = narrow;
  one.Add(wide);
  IntervalCounts other = wide;
  other.Add(narrow);
  Counts expected(151);
  expected[0] = 5;
  expected[1] = 1;
  expected[150] = 1;
  for (const IntervalCounts& sum : {one, other}) {
    EXPECT_EQ(sum.width(), milliseconds(4));
    EXPECT_EQ(sum.counts(), expected);
  }
  EXPECT_EQ(narrow.width(), milliseconds(1)) << "the argument of Add";
  IntervalCounts empty;
  empty.Add(narrow);
  EXPECT_EQ(empty.counts(), narrow.counts());
}

}  // namespace
}  // namespace stele::internal::lab
