#include "manifest/runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace stele::internal {
namespace {

std::vector<std::vector<uint32_t>> Runs(const std::vector<KeyRange>& newest_first) {
  std::vector<const KeyRange*> ranges;
  for (const KeyRange& range : newest_first) ranges.push_back(&range);
  return DivideIntoRuns(ranges);
}

KeyRange Rows(std::string_view start, std::string_view end) {
  return {std::string(start), std::string(end), false};
}

using Positions = std::vector<std::vector<uint32_t>>;

TEST(RunsTest, OfStacksAsTheyAre) {
  EXPECT_EQ(Runs({}), Positions());
  EXPECT_EQ(Runs({KeyRange::All()}), Positions({{0}}));
  EXPECT_EQ(Runs({Rows("c", "d"), Rows("b", "c"), Rows("a", "b")}), Positions({{2, 1, 0}}))
      << "flushes of rows in order";
  EXPECT_EQ(Runs({Rows("a", "c"), Rows("b", "d"), Rows("c", "e")}), Positions({{0}, {1}, {2}}))
      << "each overlaps the next";
  EXPECT_EQ(Runs({Rows("a", "c"), KeyRange::All(), Rows("x", "z")}), Positions({{0}, {1}, {2}}))
      << "kept apart by the one between";
  EXPECT_EQ(Runs({Rows("a", "c"), Rows("b", "d"), Rows("x", "z")}), Positions({{0, 2}, {1}}))
      << "past those it has nothing to do with";
  EXPECT_EQ(Runs({Rows("a", "a"), Rows("b", "c")}), Positions({{1}}))
      << "an empty range shows nothing";
  EXPECT_EQ(Runs({{"m", "", true}, Rows("", "m")}), Positions({{1, 0}})) << "ranges that touch";
}

TEST(RunsTest, AHundredFilesInOrderAreOne) {
  std::vector<KeyRange> stack;
  for (int i = 100; i > 0; --i)
    stack.push_back(Rows(fmt::format("{:03}0", i), fmt::format("{:03}9", i)));
  EXPECT_EQ(Runs(stack).size(), 1u);
  std::reverse(stack.begin(), stack.end());
  EXPECT_EQ(Runs(stack).size(), 1u);
}

// Lower bound for any division into sorted runs. The references of a chain each overlap a newer one
// of the chain, so each must be in a separate sorted run.
size_t LongestChain(const std::vector<KeyRange>& newest_first) {
  std::vector<size_t> longest;
  for (size_t i = 0; i < newest_first.size(); ++i) {
    longest.push_back(newest_first[i].IsEmpty() ? 0 : 1);
    for (size_t newer = 0; newer < i; ++newer) {
      if (newest_first[i].Overlaps(newest_first[newer]))
        longest[i] = std::max(longest[i], longest[newer] + 1);
    }
  }
  return longest.empty() ? 0 : *std::max_element(longest.begin(), longest.end());
}

TEST(RunsTest, RunsAreDisjointKeepRecencyAndAreFew) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<KeyRange> stack;
    const uint64_t row_count = 2 + random.Below(60);
    const uint64_t width = 1 + random.Below(row_count);
    for (uint64_t left = random.Below(25); left > 0; --left) {
      const uint64_t start = random.Below(row_count);
      KeyRange& range = stack.emplace_back(
          Rows(fmt::format("{:02}", start), fmt::format("{:02}", start + random.Below(width + 1))));
      if (random.OneIn(12)) range = {range.start, "", true};
    }
    const Positions runs = Runs(stack);
    std::vector<size_t> run_of(stack.size(), runs.size());
    for (size_t run = 0; run < runs.size(); ++run) {
      ASSERT_FALSE(runs[run].empty());
      for (size_t i = 0; i < runs[run].size(); ++i) {
        ASSERT_EQ(run_of[runs[run][i]], runs.size()) << "in two runs";
        run_of[runs[run][i]] = run;
        if (i > 0) {
          ASSERT_TRUE(stack[runs[run][i - 1]].EndsBefore(stack[runs[run][i]].start))
              << "ascending, without overlap";
        }
      }
    }
    for (size_t older = 0; older < stack.size(); ++older) {
      ASSERT_EQ(run_of[older] < runs.size(), !stack[older].IsEmpty());
      for (size_t newer = 0; newer < older; ++newer) {
        if (stack[older].Overlaps(stack[newer])) {
          ASSERT_LT(run_of[newer], run_of[older]);
        }
      }
    }
    ASSERT_EQ(runs.size(), LongestChain(stack));
  }
}

}  // namespace
}  // namespace stele::internal
