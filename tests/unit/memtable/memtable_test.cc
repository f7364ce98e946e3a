#include "memtable/memtable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/buffer.h"
#include "support/memtable_fill.h"

namespace stele::internal {
namespace {

// Each string is one commit, with sequences 1, 2, 3 ... A cursor at `sequence` must return
// `expected`.
struct Case {
  const char* name;
  std::vector<const char*> commits;
  uint64_t sequence;
  const char* expected;
};

const Case kCases[] = {
    {"NothingOfLaterCommits",
     {"r a:q @1 = one", "r a:q @2 = two\ns a:q @1 = new row"},
     1,
     "r a:q @1 = one\n"},
    {"NewestOfOneCellKey",
     {"r a:q @1 = one", "r a:q @1 = two", "r a:q @1 = three"},
     2,
     "r a:q @1 = two\n"},
    {"LaterInTheBatchIsNewer", {"r a:q @1 = one\nr a:q @1 = two"}, 1, "r a:q @1 = two\n"},
    {"SemanticsRow9OverwriteWithNothing", {"r a:q @1 = one", "r a:q @1 ="}, 2, "r a:q @1 =\n"},
    {"SemanticsRow10EmptyQualifierAndValue", {"r a: @0 ="}, 1, "r a: @0 =\n"},
    {"SemanticsRow21SetDeleteRowSet",
     {"r a:q @1 = x\nr DELETE\nr b:q @1 = y"},
     1,
     "r DELETE\nr b:q @1 = y\n"},
    {"SemanticsRow22DeleteColumnThenOlderSet",
     {"r a:q @9 = x", "r a:q DELETE [0,max]", "r a:q @3 = y"},
     3,
     "r a:q DELETE [0,max]\nr a:q @3 = y\n"},
    {"SemanticsRow23RangeIsHalfOpen",
     {"r a:q @1000 = 1\nr a:q @2000 = 2\nr a:q @3000 = 3\nr a:q @4000 = 4",
      "r a:q DELETE [2000,2999]"},
     2,
     "r a:q @4000 = 4\nr a:q @3000 = 3\nr a:q DELETE [2000,2999]\nr a:q @1000 = 1\n"},
    {"SemanticsRow30RowWithAllDeleted", {"r a:q @1 = x", "r a DELETE"}, 2, "r a DELETE\n"},
    {"DeltasOfOneCellKeyFold",
     {"r a:q @1 sum 5\nr b:q @1 min 5", "r a:q @1 sum 3\nr b:q @1 min 3",
      "r a:q @1 sum 9\nr b:q @1 min 9\nr a:q @2 sum 1"},
     3,
     "r a:q @2 sum 1\nr a:q @1 sum 17\nr b:q @1 min 3\n"},
    {"AViewBetweenTwoDeltasSeesTheFoldAsOfItself",
     {"r a:q @1 sum 5", "r a:q @1 sum 3", "r a:q @1 sum 9"},
     2,
     "r a:q @1 sum 8\n"},
    {"SemanticsRow123DeleteThenAdd",
     {"r a:q @1 sum 5", "r a:q @1 sum 100\nr a:q DELETE [0,max]\nr a:q @1 sum 3", "r a:q @1 sum 1"},
     3,
     "r a:q DELETE [0,max]\nr a:q @1 sum 4\n"},
    {"ADeleteOfAnotherColumnCutsNothing",
     {"r a:q @1 sum 5", "r a:q @1 sum 5\nr a:p DELETE [0,max]\nr a:q @1 sum 3", "r b DELETE",
      "r a:q @1 sum 1"},
     4,
     "r a:p DELETE [0,max]\nr a:q @1 sum 14\nr b DELETE\n"},
    {"ADeleteOfTheRowCuts",
     {"r a:q @1 hll a b", "r DELETE\nr a:q @1 hll c", "r a:q @1 hll d c"},
     3,
     "r DELETE\nr a:q @1 hll of about 2\n"},
    {"BeforeTheDelete", {"r a:q @1 = x", "r DELETE"}, 1, "r a:q @1 = x\n"},
    {"RowTombstoneTakesTheOthersAlong",
     {"r a DELETE\nr a:q DELETE [1,2]\nr b:q @1 = x", "r DELETE", "r a DELETE\nr a:q DELETE [3,4]"},
     3,
     "r DELETE\n"},
    {"FamilyTombstoneTakesRangesAlong",
     {"r a:q DELETE [1,2]\nr b:q DELETE [1,2]", "r a DELETE"},
     2,
     "r a DELETE\nr b:q DELETE [1,2]\n"},
    {"OlderFamilyTombstoneStillHidesBesideAnOlderRowTombstone",
     {"r DELETE", "r a:q @1 = x\nr b:q @1 = y", "r a DELETE"},
     3,
     "r DELETE\nr b:q @1 = y\n"},
    {"RangeUnderAFamilyTombstoneHidesWhatCameAfterIt",
     {"r a DELETE", "r a:q @5 = x\nr a:q @6 = y", "r a:q DELETE [5,5]"},
     3,
     "r a DELETE\nr a:q @6 = y\n"},
    {"RangeInsideAnotherIsDropped",
     {"r a:q DELETE [2,8]", "r a:q DELETE [3,5]"},
     2,
     "r a:q DELETE [2,8]\n"},
    {"EqualEndsKeepTheWider",
     {"r a:q DELETE [2,8]", "r a:q DELETE [5,8]\nr a:q @2 = x"},
     2,
     "r a:q DELETE [2,8]\nr a:q @2 = x\n"},
    {"OverlappingRangesBecomeOne",
     {"r a:q DELETE [4,8]\nr a:q @5 = x", "r a:q @5 = y", "r a:q DELETE [2,6]\nr a:q @7 = z"},
     3,
     "r a:q DELETE [2,8]\nr a:q @7 = z\n"},
    {"OverlappingRangesAsOfTheFirst",
     {"r a:q DELETE [4,8]", "r a:q @3 = x", "r a:q DELETE [2,6]"},
     2,
     "r a:q DELETE [4,8]\nr a:q @3 = x\n"},
    {"TouchingRangesBecomeOne",
     {"r a:q DELETE [4,8]", "r a:q DELETE [2,3]", "r a:q @3 = x"},
     3,
     "r a:q DELETE [2,8]\nr a:q @3 = x\n"},
    {"RangesApartStay",
     {"r a:q DELETE [4,8]", "r a:q DELETE [1,2]", "r a:q @3 = x"},
     3,
     "r a:q DELETE [4,8]\nr a:q @3 = x\nr a:q DELETE [1,2]\n"},
    {"WiderOlderRangeHidesLessThanANewerNarrowOne",
     {"r a:q DELETE [0,9]", "r a:q @3 = x\nr a:q @7 = y", "r a:q DELETE [2,4]"},
     3,
     "r a:q DELETE [0,9]\nr a:q @7 = y\n"},
    {"RangesOfOneColumnDoNotReachTheNext",
     {"r a:p @1 = x\nr a:q @1 = y", "r a:p DELETE [0,max]"},
     2,
     "r a:p DELETE [0,max]\nr a:q @1 = y\n"},
};

TEST(Memtable, ResolvesAsOfASequence) {
  for (const Case& c : kCases) {
    Memtable memtable(TestFamilies());
    for (size_t i = 0; i < c.commits.size(); ++i) ApplyLines(&memtable, i + 1, c.commits[i]);
    EXPECT_EQ(PrintAll(memtable.NewCursor(c.sequence, AllFamilies(memtable)).get()), c.expected)
        << c.name;
  }
}

TEST(Memtable, CountsWhatItHolds) {
  Memtable memtable(TestFamilies());
  EXPECT_TRUE(memtable.empty());
  EXPECT_EQ(memtable.first_sequence(), 0u);
  ApplyLines(&memtable, 7, "r a:q @1 = x\nr a:q @1 = y\ns DELETE");
  ApplyLines(&memtable, 9, "r a DELETE");
  EXPECT_FALSE(memtable.empty());
  EXPECT_EQ(memtable.cell_count(), 4u);
  EXPECT_EQ(memtable.first_sequence(), 7u);
  EXPECT_EQ(memtable.last_sequence(), 9u);
  EXPECT_NE(memtable.FindRow("r"), nullptr);
  EXPECT_NE(memtable.FindRow("s"), nullptr);
  EXPECT_EQ(memtable.FindRow("ra"), nullptr);
  const size_t bytes_before = memtable.bytes();
  ApplyLines(&memtable, 10, "r a:q @1 = " + std::string(100'000, 'v'));
  EXPECT_GE(memtable.bytes(), bytes_before + 100'000);
}

TEST(Memtable, ASequenceAboveTheGreatestIsDataLoss) {
  Memtable memtable(TestFamilies());
  BatchWriter writer;
  writer.StartRow(1, "r");
  writer.Add({.kind = CellKind::kDeleteRow});
  const std::string batch = writer.Finish();
  EXPECT_EQ(ApplyBatch(&memtable, kSequenceMax, batch), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(ApplyBatch(&memtable, kSequenceMax + 1, batch)));
  EXPECT_EQ(memtable.cell_count(), 1u);
}

TEST(Memtable, LeavesOutFamiliesItDoesNotKnow) {
  Memtable memtable(FamilyList({{1, "a"}, {3, "c"}}));
  ASSERT_TRUE(
      ApplyBatch(&memtable, 1, BatchOf("r b:q @1 = x\ns b:q @1 = x\ns c:q @1 = y\nt b DELETE"))
          .ok());
  EXPECT_EQ(memtable.cell_count(), 1u);
  EXPECT_EQ(memtable.FindRow("r"), nullptr);
  auto cursor = memtable.NewCursor(1, {.families = TestFamilies().MapFrom(memtable.family_ids())});
  EXPECT_EQ(PrintAll(cursor.get()), "s c:q @1 = y\n")
      << "under the family index of the cursor's user";
}

TEST(Memtable, HandsOutNothingOfUnwantedFamilies) {
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1,
             "r DELETE\nr a:q @1 = x\nr b DELETE\nr b:q @1 = x\nr c:q @1 = x\ns b:q @1 = x");
  auto cursor = memtable.NewCursor(1, {.families = {0, 0, 0, 1, 0}});
  ASSERT_TRUE(cursor->SeekToEdge());
  EXPECT_EQ(PrintRows({{"r", ReadRow(cursor.get())}}), "r DELETE\nr a:q @1 = x\n");
  ASSERT_TRUE(cursor->NextRow()) << "row s is there, without cells";
  EXPECT_TRUE(ReadRow(cursor.get()).empty());
}

TEST(Memtable, SkipToGoesToTheColumnButHandsOutTombstonesOnTheWay) {
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1, "r c:x @1 = hidden");
  ApplyLines(&memtable, 2,
             "r a DELETE\nr a:x @1 = 1\nr c:x @2 = hidden\nr c:y @1 = hidden\nr c:z @3 = hidden\nr "
             "d:x @1 = 5");
  ApplyLines(&memtable, 3, "r c DELETE");
  ApplyLines(&memtable, 4, "r c:x @4 = left out\nr c:y @7 = 7\nr c:y DELETE [2,3]");
  const char* const from_cy = "r c DELETE\nr c:y @7 = 7\nr d:x @1 = 5\n";
  auto cursor = memtable.NewCursor(4, AllFamilies(memtable));
  ASSERT_TRUE(cursor->SeekRow("r"));
  cursor->SkipTo(3, "y");
  EXPECT_EQ(PrintRows({{"r", ReadRow(cursor.get())}}), from_cy);
  // With a projection, the user's family index 1 is family c.
  cursor = memtable.NewCursor(4, {.families = {0, 0, 0, 1, 2}});
  ASSERT_TRUE(cursor->SeekRow("r"));
  cursor->SkipTo(1, "y");
  EXPECT_EQ(PrintRows({{"r", ReadRow(cursor.get())}}), "r a DELETE\nr a:y @7 = 7\nr b:x @1 = 5\n");
  cursor->SkipTo(3, "");
  EXPECT_TRUE(ReadRow(cursor.get()).empty());
}

TEST(Memtable, SkipToAFamilyThatTheSourceLacksStopsAtTheNextOne) {
  Memtable memtable(FamilyList({{1, "a"}, {4, "d"}}));
  ASSERT_TRUE(ApplyBatch(&memtable, 1, BatchOf("r a:q @1 = x\nr d DELETE\nr d:a @1 = y")).ok());
  auto cursor = memtable.NewCursor(1, {.families = TestFamilies().MapFrom(memtable.family_ids())});
  ASSERT_TRUE(cursor->SeekRow("r"));
  cursor->SkipTo(2, "z");
  EXPECT_EQ(PrintRows({{"r", ReadRow(cursor.get())}}), "r d DELETE\nr d:a @1 = y\n");
}

// A row of 20,000 columns, inserted in an order that is neither ascending nor descending.
TEST(Memtable, StreamsAndSeeksInAGiantRow) {
  constexpr uint32_t kColumns = 20'000;
  Memtable memtable(TestFamilies());
  for (uint32_t i = 0; i < kColumns; ++i) {
    const uint32_t column = i * 7919 % kColumns;
    ApplyLines(&memtable, i + 1, fmt::format("r b:{:05} @1 = {}", column, column));
  }
  auto cursor = memtable.NewCursor(kColumns, AllFamilies(memtable));
  ASSERT_TRUE(cursor->SeekToEdge());
  std::vector<Cell> cells;
  ASSERT_TRUE(cursor->ReadCells(&cells));
  const size_t first = cells.size();
  EXPECT_LE(first, 10u);  // a reader of one column does not pay for many
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(cursor->ReadCells(&cells));
  const size_t before = cells.size();
  ASSERT_TRUE(cursor->ReadCells(&cells));
  EXPECT_EQ(cells.size(), before + kCellBatch);
  cells.clear();
  cursor->SkipTo(2, "15000");
  ASSERT_TRUE(cursor->ReadCells(&cells));
  EXPECT_EQ(cells.size(), first);
  EXPECT_EQ(cells[0].qualifier, "15000");
  while (cursor->ReadCells(&cells)) {
  }
  ASSERT_EQ(cells.size(), 5000u);
  for (uint32_t i = 0; i < 5000; ++i)
    ASSERT_EQ(cells[i].qualifier, fmt::format("{:05}", 15'000 + i));
}

TEST(Memtable, PassesOverALongHistoryOfOneCellKey) {
  constexpr uint64_t kCommits = 20'000;
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1, "r a:before @5 = b\nr a:hot @5 = 1\nr a:zafter @5 = a");
  for (uint64_t sequence = 2; sequence <= kCommits; ++sequence)
    ApplyLines(&memtable, sequence, fmt::format("r a:hot @5 = {}", sequence));
  for (uint64_t sequence : {uint64_t{1}, uint64_t{2}, uint64_t{9'999}, kCommits}) {
    EXPECT_EQ(PrintAll(memtable.NewCursor(sequence, AllFamilies(memtable)).get()),
              fmt::format("r a:before @5 = b\nr a:hot @5 = {}\nr a:zafter @5 = a\n", sequence));
  }
}

// All ranges overlap in the middle, and the oldest starts first. The cost per range must not grow.
TEST(Memtable, ManyOverlappingRangesOfOneColumnAreHandedOutAsOne) {
  constexpr uint64_t kCommits = 100'000;
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1,
             fmt::format("r a:q @{} = hidden\nr a:q @{} = above", kCommits, 2 * kCommits + 1));
  for (uint64_t i = 1; i <= kCommits; ++i) {
    ApplyLines(&memtable, i + 1, fmt::format("r a:q DELETE [{},{}]", i, kCommits + i));
  }
  for (const uint64_t last : {uint64_t{1}, kCommits / 2, kCommits}) {
    EXPECT_EQ(
        PrintAll(memtable.NewCursor(last + 1, AllFamilies(memtable)).get()),
        fmt::format("r a:q @{} = above\nr a:q DELETE [1,{}]\n", 2 * kCommits + 1, kCommits + last));
  }
}

TEST(Memtable, KeysThatShareTheirFirstEightBytesKeepTheirOrder) {
  Memtable memtable(TestFamilies());
  const std::vector<std::string> keys = {"k",
                                         std::string("k\0", 2),
                                         "prefix00",
                                         "prefix000",
                                         "prefix00a",
                                         "prefix00b",
                                         "prefix01",
                                         "\xff\xff\xff\xff\xff\xff\xff\xff",
                                         "\xff\xff\xff\xff\xff\xff\xff\xff\x01"};
  uint64_t sequence = 0;
  for (size_t i : {4, 0, 8, 2, 6, 1, 7, 3, 5}) {
    BatchWriter writer;
    writer.StartRow(1, keys[i]);
    writer.Add({.kind = CellKind::kDeleteRow});
    ASSERT_TRUE(ApplyBatch(&memtable, ++sequence, writer.Finish()).ok());
  }
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    std::vector<std::string> seen;
    auto cursor = memtable.NewCursor(sequence, AllFamilies(memtable, direction));
    for (const OwnedRow& row : ReadAll(cursor.get())) seen.push_back(row.row_key);
    if (direction == Direction::kReverse) std::reverse(seen.begin(), seen.end());
    EXPECT_EQ(seen, keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool forward = direction == Direction::kForward;
      ASSERT_EQ(cursor->SeekRow(keys[i]), forward || i > 0);
      if (forward || i > 0) {
        EXPECT_EQ(cursor->row_key(), keys[forward ? i : i - 1]);
      }
    }
  }
  EXPECT_NE(memtable.FindRow("prefix00a"), nullptr);
}

// Ascending sequences of new rows between existing rows. The position of the next row is then known
// from the last one, on all levels of the skip list.
TEST(Memtable, FindsRowsInsertedInAscendingRuns) {
  constexpr uint64_t kRuns = 40;
  constexpr uint64_t kRunRows = 50;
  Memtable memtable(TestFamilies());
  const auto row_key = [](uint64_t run, uint64_t row) {
    return fmt::format("{:02}/{:02}", run * 7 % kRuns, row);
  };
  uint64_t sequence = 0;
  for (uint64_t run = 0; run < kRuns; ++run) {
    for (uint64_t row = 0; row < kRunRows; ++row)
      ApplyLines(&memtable, ++sequence, row_key(run, row) + " DELETE");
  }
  auto cursor = memtable.NewCursor(sequence, AllFamilies(memtable));
  for (uint64_t i = 0; i < sequence; ++i) {
    const std::string wanted = row_key(i / kRunRows, i % kRunRows);
    ASSERT_NE(memtable.FindRow(wanted), nullptr) << wanted;
    ASSERT_TRUE(cursor->SeekRow(wanted));
    ASSERT_EQ(cursor->row_key(), wanted);
  }
  ASSERT_EQ(ReadAll(cursor.get()).size(), sequence);
}

TEST(Memtable, DamagedOperationsAreDataLoss) {
  Memtable memtable(TestFamilies());
  uint32_t position = 0;
  const absl::Status status = memtable.Apply(1, RowOps(1, "r", 1, "\x09"), &position);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
}

// Each allocation of a fill fails once. Earlier commits stay readable.
TEST(Memtable, RefusedMemoryIsResourceExhausted) {
  int refusals = 0;
  for (int nth = 1; nth < 30; ++nth) {
    Memtable memtable(TestFamilies());
    FailBufferAllocation(nth);
    uint64_t sequence = 0;
    absl::Status status;
    while (status.ok() && sequence < 300) {
      ++sequence;
      status = ApplyBatch(&memtable, sequence,
                          BatchOf(fmt::format("r{} a:q @1 = {}\nbig b:q @{} = x", sequence,
                                              std::string(500, 'v'), sequence)));
    }
    FailBufferAllocation(0);
    if (!status.ok()) {
      ++refusals;
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      --sequence;
    }
    auto cursor = memtable.NewCursor(sequence, AllFamilies(memtable));
    const OwnedRows rows = ReadAll(cursor.get());
    EXPECT_EQ(rows.size(), sequence == 0 ? 0 : sequence + 1);
    if (sequence > 0) {
      EXPECT_EQ(rows.front().cells.size(), sequence);
    }
    EXPECT_TRUE(ApplyBatch(&memtable, sequence + 1, BatchOf("after a:q @1 = x")).ok());
    EXPECT_NE(memtable.FindRow("after"), nullptr);
  }
  EXPECT_GT(refusals, 3);
}

// A long row key has memory of its own. So the second allocation is that of the index, which gives
// up. Rows are then found in the list, and none is inserted twice.
TEST(Memtable, RowsAreFoundWithoutTheirIndex) {
  Memtable memtable(TestFamilies());
  const std::string first(2'000, 'm');
  uint64_t sequence = 1;
  FailBufferAllocation(2);
  EXPECT_TRUE(ApplyBatch(&memtable, sequence, BatchOf(first + " a:q @1 = x")).ok());
  FailBufferAllocation(0);
  for (const std::string& row_key : {std::string("b"), std::string("z"), first, std::string("b")}) {
    ++sequence;
    const std::string batch = BatchOf(fmt::format("{} a:q @{} = x", row_key, sequence));
    EXPECT_TRUE(ApplyBatch(&memtable, sequence, batch).ok());
  }
  EXPECT_EQ(memtable.row_count(), 3u);
  EXPECT_NE(memtable.FindRow(first), nullptr);
  EXPECT_EQ(memtable.FindRow("c"), nullptr);
  auto cursor = memtable.NewCursor(sequence, AllFamilies(memtable));
  const OwnedRows rows = ReadAll(cursor.get());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].cells.size(), 2u);
  EXPECT_EQ(rows[1].cells.size(), 2u);
}

}  // namespace
}  // namespace stele::internal
