// Tests which commits a watched row reports, and the remembered versions of columns.
#include "commit/row_watches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "mutation/batch.h"

namespace stele::internal {
namespace {

constexpr uint32_t kWatchedTable = 1;
constexpr uint32_t kFamily = 7;

// Notes a commit that sets one cell of the row.
// Notes one operation of a commit that may have more.
void NotePart(RowWatches* watches, std::string_view row_key, uint64_t sequence, int64_t timestamp) {
  BatchWriter writer;
  writer.StartRow(kWatchedTable, row_key);
  writer.Add({.family_id = kFamily, .timestamp = timestamp, .qualifier = "q"});
  const std::string batch = writer.Finish();
  BatchReader reader(batch);
  for (RowOps row; reader.NextRow(&row);) watches->Note(row, sequence);
}

void NoteSet(RowWatches* watches, std::string_view row_key, uint64_t sequence,
             int64_t timestamp = 1000) {
  NotePart(watches, row_key, sequence, timestamp);
  watches->EndNote(sequence);
}

TEST(RowWatchesTest, ARowIsWrittenAfterSmallerSequencesOnly) {
  RowWatches watches;
  const RowWatches::Watch watch = watches.Begin(kWatchedTable, "r");
  const RowWatches::Watch other_table = watches.Begin(kWatchedTable + 1, "r");
  NoteSet(&watches, "r", 5);
  EXPECT_TRUE(watch.WrittenAfter(4));
  EXPECT_FALSE(watch.WrittenAfter(5));
  EXPECT_FALSE(other_table.WrittenAfter(4));
  EXPECT_TRUE(watches.Begin(kWatchedTable, "r").WrittenAfter(4)) << "while another watch lasts";
}

// Many more rows than counters: each shares its counter with rows that are written.
TEST(RowWatchesTest, NoOtherRowRefusesAWrite) {
  RowWatches watches;
  const RowWatches::Watch watch = watches.Begin(kWatchedTable, "unwritten");
  for (uint64_t i = 1; i <= 200'000; ++i) NoteSet(&watches, fmt::format("{}", i), i);
  EXPECT_FALSE(watch.WrittenAfter(0));
}

TEST(RowWatchesTest, NothingRemainsOfWatchesThatEnded) {
  RowWatches watches;
  {
    RowWatches::Watch first = watches.Begin(kWatchedTable, "a");
    RowWatches::Watch second = watches.Begin(kWatchedTable, "a");
    first = watches.Begin(kWatchedTable, "b");
    const RowWatches::Watch third = std::move(second);
    EXPECT_TRUE(watches.HasRows());
  }
  EXPECT_FALSE(watches.HasRows());
}

TEST(RowWatchesTest, AWatchKeepsTheValuesOfLaterCommits) {
  RowWatches watches;
  const auto set = [&](std::string_view row_key, uint64_t sequence, std::string_view value) {
    BatchWriter writer;
    writer.StartRow(kWatchedTable, row_key);
    writer.Add({.family_id = kFamily, .timestamp = 1000, .qualifier = "q", .value = value});
    const std::string batch = writer.Finish();
    BatchReader reader(batch);
    for (RowOps row; reader.NextRow(&row);) watches.Note(row, sequence);
    watches.EndNote(sequence);
  };
  using Values = std::vector<std::string>;
  const RowWatches::Watch plain = watches.Begin(kWatchedTable, "r");
  set("r", 4, "before");
  {
    RowWatches::Watch first = watches.BeginKeepingValues(kWatchedTable, "r");
    EXPECT_EQ(first.TakeValuesSetAfter(3).values, Values());
    EXPECT_EQ(first.TakeValuesSetAfter(3).through, 4u);
    EXPECT_EQ(first.TakeValuesSetAfter(5).through, 5u);
    set("r", 6, "a");
    set("other", 7, "x");
    set("r", 8, "b");
    RowWatches::Watch second = watches.BeginKeepingValues(kWatchedTable, "r");
    EXPECT_EQ(second.TakeValuesSetAfter(6).values, Values{"b"});
    EXPECT_EQ(first.TakeValuesSetAfter(5).values, (Values{"a", "b"})) << "kept for both";
    first = watches.Begin(kWatchedTable, "other");
    set("r", 9, "c");
    EXPECT_EQ(second.TakeValuesSetAfter(9).values, Values());
    set("r", 10, "d");
    const RowWatches::WrittenValues last = second.TakeValuesSetAfter(9);
    EXPECT_EQ(last.values, Values{"d"});
    EXPECT_EQ(last.through, 10u);
    EXPECT_EQ(second.TakeValuesSetAfter(9).values, Values()) << "the only watch took it";
  }
  set("r", 11, "e");
  RowWatches::Watch later = watches.BeginKeepingValues(kWatchedTable, "r");
  set("r", 12, "f");
  EXPECT_EQ(later.TakeValuesSetAfter(0).values, Values{"f"})
      << "the last watch that kept values ended";
}

// A reader that misses the newest commit sees it noted before that commit's writer goes on.
TEST(RowWatchesTest, AWatchMissesNoCommitAfterItsReadPoint) {
  RowWatches watches;
  std::atomic<uint64_t> published = 0;
  std::atomic<uint64_t> noted = 0;
  std::atomic<bool> stop = false;
  std::thread leader([&] {
    for (uint64_t sequence = 1; !stop; ++sequence) {
      published = sequence;
      NoteSet(&watches, "r", sequence);
      noted = sequence;
    }
  });
  for (int i = 0; i < 50'000; ++i) {
    const RowWatches::Watch watch = watches.Begin(kWatchedTable, "r");
    const uint64_t read_point = published;
    const uint64_t before_check = noted;
    if (before_check > read_point) {
      ASSERT_TRUE(watch.WrittenAfter(read_point));
    }
  }
  stop = true;
  leader.join();
}

class RememberedVersionsTest : public ::testing::Test {
 protected:
  static Retention Newest(uint32_t count) { return Retention(GcRule::MaxNumVersions(count)); }
  std::optional<RowWatches::Floor> FloorOf(const RowWatches::Watch& watch, uint32_t count,
                                           uint64_t generation = 1) {
    return watches_.FloorOf(watch, column_, generation, Newest(count), 0);
  }
  RowWatches watches_;
  const RowWatches::ColumnName column_{.family_id = kFamily, .qualifier = "q"};
};

TEST_F(RememberedVersionsTest, CommitsKeepThemUpToDate) {
  const RowWatches::Watch watch = watches_.Begin(kWatchedTable, "r");
  EXPECT_FALSE(FloorOf(watch, 1).has_value());
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions({300, 200}));
  EXPECT_EQ(FloorOf(watch, 1)->floor, 201);
  EXPECT_EQ(FloorOf(watch, 1)->sequence, 10u);
  EXPECT_EQ(FloorOf(watch, 2)->floor, 0);
  NoteSet(&watches_, "r", 10, 250);  // the read saw this commit
  EXPECT_EQ(FloorOf(watch, 2)->floor, 0);
  NoteSet(&watches_, "other", 11, 250);
  EXPECT_EQ(FloorOf(watch, 2)->floor, 0);
  NoteSet(&watches_, "r", 12, 250);
  NoteSet(&watches_, "r", 13, 250);
  EXPECT_EQ(FloorOf(watch, 2)->floor, 201);
  EXPECT_EQ(FloorOf(watch, 2)->sequence, 13u);
}

TEST_F(RememberedVersionsTest, AChangedRuleOrAWriteSinceTheReadForgetsThem) {
  const RowWatches::Watch watch = watches_.Begin(kWatchedTable, "r");
  NoteSet(&watches_, "r", 11);
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions({300}));
  EXPECT_FALSE(FloorOf(watch, 1).has_value()) << "the read missed a write";
  watches_.CacheVersions(watch, column_, 1, 11, ColumnVersions({300}));
  EXPECT_FALSE(FloorOf(watch, 1, 2).has_value()) << "of an earlier generation";
  EXPECT_FALSE(FloorOf(watch, 1, 1).has_value()) << "forgotten";
}

// A clock that was ahead is corrected. Older versions may be garbage at the earlier time.
TEST_F(RememberedVersionsTest, AnEarlierTimeForgetsThem) {
  const RowWatches::Watch watch = watches_.Begin(kWatchedTable, "r");
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions({300}, /*time=*/1));
  EXPECT_FALSE(FloorOf(watch, 1).has_value());
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions({300}, /*time=*/0));
  EXPECT_TRUE(FloorOf(watch, 1).has_value());
}

// A batch may contain a row twice, so the versions are not complete after its first operation.
TEST_F(RememberedVersionsTest, AFloorDuringACommitRefusesTheWrite) {
  const RowWatches::Watch watch = watches_.Begin(kWatchedTable, "r");
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions({300, 200}));
  NotePart(&watches_, "r", 11, 400);
  EXPECT_TRUE(watch.WrittenAfter(FloorOf(watch, 2)->sequence));
  NotePart(&watches_, "r", 11, 500);
  watches_.EndNote(11);
  EXPECT_FALSE(watch.WrittenAfter(FloorOf(watch, 2)->sequence));
  EXPECT_EQ(FloorOf(watch, 2)->floor, 301);
}

TEST_F(RememberedVersionsTest, CommitsDoNotGrowTheirMemoryBeyondTheBound) {
  constexpr int kColumns = 40;
  constexpr int kVersions = 5'000;  // 40 kB for each column, so 1.6 MB for all
  std::vector<RowWatches::Watch> watches;
  for (int i = 0; i < kColumns; ++i) {
    watches.push_back(watches_.Begin(kWatchedTable, std::to_string(i)));
    watches_.CacheVersions(watches.back(), column_, 1, 1, ColumnVersions({1}));
  }
  uint64_t sequence = 1;
  for (int i = 0; i < kColumns; ++i) {
    for (int version = 0; version < kVersions; ++version)
      NoteSet(&watches_, std::to_string(i), ++sequence, 1'000 + version);
  }
  int remembered = 0;
  for (const RowWatches::Watch& watch : watches)
    remembered += FloorOf(watch, 1).has_value() ? 1 : 0;
  EXPECT_GT(remembered, 0);
  EXPECT_LT(remembered, kColumns);
}

TEST_F(RememberedVersionsTest, TheirMemoryIsBounded) {
  constexpr int kRows = 100;
  const auto row_key = [](int i) { return std::string(32 << 10, 'r') + fmt::format("{:03}", i); };
  for (int i = 0; i < kRows; ++i) {
    watches_.CacheVersions(watches_.Begin(kWatchedTable, row_key(i)), column_, 1, 10,
                           ColumnVersions({300}));
  }
  int remembered = 0;
  for (int i = 0; i < kRows; ++i)
    remembered += FloorOf(watches_.Begin(kWatchedTable, row_key(i)), 1).has_value() ? 1 : 0;
  EXPECT_GT(remembered, 2);
  EXPECT_LT(remembered, 33);
  EXPECT_TRUE(FloorOf(watches_.Begin(kWatchedTable, row_key(kRows - 1)), 1).has_value());
  EXPECT_FALSE(FloorOf(watches_.Begin(kWatchedTable, row_key(0)), 1).has_value());
}

TEST_F(RememberedVersionsTest, AColumnOfManyVersionsIsNotRemembered) {
  const RowWatches::Watch watch = watches_.Begin(kWatchedTable, "r");
  std::vector<int64_t> versions;
  for (int64_t t = RowWatches::kVersionsMax; t > 0; --t) versions.push_back(t);
  watches_.CacheVersions(watch, column_, 1, 10, ColumnVersions(versions));
  EXPECT_TRUE(FloorOf(watch, 1).has_value());
  NoteSet(&watches_, "r", 11, 1'000'000);
  EXPECT_FALSE(FloorOf(watch, 1).has_value());
}

// Against a set of timestamps, with operations of any kind.
TEST(ColumnVersionsTest, TheyAreWhatTheOperationsLeave) {
  Random random(20261124);
  ColumnVersions versions;
  std::set<int64_t, std::greater<>> expected;
  const Retention retention(GcRule::MaxNumVersions(3));
  for (int i = 0; i < 100'000; ++i) {
    const int64_t newest = static_cast<int64_t>(random.Below(50));
    BatchOp op{.timestamp = newest, .qualifier = "q"};
    const uint64_t choice = random.Below(200);
    if (choice < 80) {
      op.range_start =
          newest - static_cast<int64_t>(random.Below(static_cast<uint64_t>(newest) + 1));
      op.kind = CellKind::kDeleteRange;
      expected.erase(expected.lower_bound(newest), expected.upper_bound(op.range_start));
    } else if (choice < 81) {
      op = {.kind = choice % 2 == 0 ? CellKind::kDeleteRow : CellKind::kDeleteFamily};
      expected.clear();
    } else {
      op.kind = choice % 2 == 0 ? CellKind::kSet : CellKind::kSum;
      expected.insert(newest);
    }
    versions.Apply(op);
    ASSERT_EQ(versions.count(), expected.size()) << i;
    const int64_t floor = expected.size() <= 3 ? 0 : *std::next(expected.begin(), 3) + 1;
    ASSERT_EQ(versions.FloorUnder(retention, 0), floor) << i;
  }
}

}  // namespace
}  // namespace stele::internal
