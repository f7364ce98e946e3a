// Tests rows that are much larger than the budget: millions of cells in one row or in one column,
// many large values, a hundred families.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/crash_child.h"
#include "support/db_memory.h"
#include "support/db_wide_row.h"

namespace stele::internal {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kBudgetBytes = 64 * kMebibyte;
// The bound is the budget, a quarter of it for fragmentation of the allocator, and a constant. The
// constant is for the test's own data, idle memory, codecs, and the stacks of a few threads
// (docs/decisions/0017-one-memory-budget.md).
constexpr uint64_t kBoundBytes = kBudgetBytes + kBudgetBytes / 4 + 16 * kMebibyte;

class WideRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database =
        Database::Open(directory_.path() + "/db", {.memory_budget_bytes = kBudgetBytes});
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *database;
  }
  void MakeTable(const Schema& schema) {
    auto table = database_.CreateTable("t", schema);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }
  // Adds up the bytes of values and reads every cell.
  uint64_t CountCells(const Filter& filter, const ReadOptions& options) {
    uint64_t cells = 0;
    RowReader reader = table_.ReadRows(RowSet::All(), filter, options);
    for (const RowView& row : reader) {
      cells += row.cells().size();
      for (const CellView& cell : row.cells()) value_bytes_ += cell.value().size();
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return cells;
  }
  void Look(const char* phase) { ReportMemory(phase, database_, peak_); }
  void CompactTwice() {
    ASSERT_EQ(table_.Compact(), absl::OkStatus());
    Look("compacted");
    ASSERT_EQ(table_.Compact(), absl::OkStatus());
    Look("compacted again");
  }

  const ScratchDirectory directory_;
  const ResidentPeak peak_;
  Database database_;
  Table table_;
  uint64_t value_bytes_ = 0;
};

// STELE_MEMORY_TIMES=10: ten million.
TEST_F(WideRowsTest, AMillionCellsInOneRow) {
  WorkOnAWideRow(database_, static_cast<uint32_t>(1'000'000 * MemoryTestTimes()));
  Look("a wide row");
  EXPECT_LE(peak_.growth_bytes(), kBudgetBytes + kBudgetBytes / 4);
}

TEST_F(WideRowsTest, AMillionVersionsOfOneColumn) {
  MakeTable(Schema().AddFamily("f"));
  const uint64_t versions = 1'000'000 * MemoryTestTimes();
  constexpr uint64_t kAtOnce = 2000;
  for (uint64_t first = 0; first < versions; first += kAtOnce) {
    RowMutation mutation("row");
    for (uint64_t i = first; i < first + kAtOnce; ++i) {
      mutation.SetCell("f", "", Timestamp::FromMillis(static_cast<int64_t>(i)),
                       fmt::format("version {:012}", i));
    }
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
  }
  Look("written");
  EXPECT_EQ(CountCells({}, {}), versions);
  EXPECT_EQ(CountCells(Filter::Latest(1), {}), 1u);
  EXPECT_EQ(CountCells(Filter::TimestampRange({.start = Timestamp::FromMillis(5000),
                                               .end = Timestamp::FromMillis(6000)}),
                       {}),
            1000u);
  Look("read");
  ASSERT_EQ(
      table_.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(500'000))}),
      absl::OkStatus());
  CompactTwice();
  EXPECT_EQ(CountCells({}, {.row_piece_bytes = kMebibyte}), 500'000u);
  EXPECT_EQ(table_.Stats()->cells, 500'000u);
  Look("read again");
  EXPECT_LE(peak_.growth_bytes(), kBoundBytes);
}

TEST_F(WideRowsTest, ManyLargeValuesInOneRow) {
  MakeTable(Schema().AddFamily("f"));
  const uint64_t values = 200 * MemoryTestTimes();
  for (uint64_t i = 0; i < values; ++i) {
    const RowMutation mutation = RowMutation("row").SetCell(
        "f", fmt::format("{:06}", i * 37 % values), NoiseOf(i, kMebibyte));
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
  }
  Look("written");
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(CountCells({}, {.reverse = reverse, .row_piece_bytes = 4 * kMebibyte}), values);
    Look("read in pieces");
  }
  CompactTwice();
  EXPECT_EQ(CountCells({}, {.row_piece_bytes = 4 * kMebibyte}), values);
  EXPECT_EQ(value_bytes_, 3 * values * kMebibyte);
  Look("read again");
  EXPECT_LE(peak_.growth_bytes(), kBoundBytes);
}

TEST_F(WideRowsTest, AHundredFamiliesOfSparseRows) {
  Schema schema;
  for (int i = 0; i < 100; ++i) schema.AddFamily(fmt::format("family{:02}", i));
  MakeTable(schema);
  const uint64_t rows = 60'000 * MemoryTestTimes();
  for (uint64_t row = 0; row < rows; ++row) {
    RowMutation mutation(fmt::format("{:012}", row * 7919 % rows));
    // Some rows have one cell, some have one in every family. Every third value and every fourth
    // qualifier is empty.
    const uint64_t cells = row % 50 == 0 ? 100 : 1 + row % 5;
    for (uint64_t i = 0; i < cells; ++i) {
      mutation.SetCell(fmt::format("family{:02}", (row + i) % 100), i % 4 == 0 ? "" : "qualifier",
                       i % 3 == 0 ? "" : TextOf(row + i, 60));
    }
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
  }
  Look("written");
  const uint64_t cells = CountCells({}, {});
  EXPECT_EQ(cells, CountCells({}, {.reverse = true}));
  Look("read");
  CompactTwice();
  EXPECT_EQ(cells, CountCells({}, {}));
  EXPECT_GT(CountCells(Filter::Family("family17"), {}), rows / 50);
  Look("read again");
  EXPECT_LE(peak_.growth_bytes(), kBoundBytes);
}

TEST_F(WideRowsTest, ReadersThatAreHeldAndNotRead) {
  MakeTable(Schema().AddFamily("f", GcRule::MaxNumVersions(1)));
  const auto write = [this](uint64_t first, uint64_t end) {
    for (uint64_t row = first; row < end; ++row) {
      const RowMutation mutation = RowMutation(fmt::format("{:012}", row * 7919 % 100'003))
                                       .SetCell("f", "q", TextOf(row, 1000));
      ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
    }
  };
  write(0, 40'000);
  std::vector<RowReader> readers;
  const uint64_t rows = 60'000 * MemoryTestTimes();
  for (uint64_t i = 0; i < 10; ++i) {
    readers.push_back(table_.ReadRows(RowSet::All(), {}, {.reverse = i % 2 == 1}));
    for (uint64_t row = 0; row < 100 * i + 1; ++row) ASSERT_TRUE(readers.back().Next());
    write(40'000 + rows / 10 * i, 40'000 + rows / 10 * (i + 1));
    Look("another reader");
  }
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  Look("compacted");
  for (RowReader& reader : readers) {
    EXPECT_TRUE(reader.Next());
    EXPECT_EQ(reader.status(), absl::OkStatus());
  }
  EXPECT_LE(peak_.growth_bytes(), kBudgetBytes)
      << "idle readers free memtables that were written to files";
}

// Each value is larger than the budget. A write has the caller's copy, one batch, and the log's or
// the memtable's copy. A read or merge has one value at a time, however many files contain values,
// and the copy that a partial row shows.
TEST_F(WideRowsTest, ValuesOfAHundredMiBOneAfterTheOther) {
  MakeTable(Schema().AddFamily("f", GcRule::MaxNumVersions(1)));
  constexpr uint64_t kValueBytes = 100 * kMebibyte;
  const uint64_t values = 4 * MemoryTestTimes();
  for (uint64_t i = 0; i < values; ++i) {
    RowMutation mutation("row");
    mutation.SetCell("f", fmt::format("{}", i), NoiseOf(i, kValueBytes));
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
    Look("written");
  }
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  Look("flushed");
  EXPECT_EQ(CountCells({}, {}), values);
  Look("read");
  CompactTwice();
  EXPECT_EQ(CountCells({}, {.reverse = true}), values);
  EXPECT_EQ(value_bytes_, 2 * values * kValueBytes);
  Look("read again");
  EXPECT_LE(peak_.growth_bytes(), 3 * kValueBytes + 32 * kMebibyte);
}

// A merge reads a large value when its cell leaves the merge, not when a source reaches it.
TEST_F(WideRowsTest, LargeValuesOfOneRowInManyFiles) {
  MakeTable(Schema().AddFamily("f").AddFamily("one", GcRule::MaxNumVersions(1)));
  constexpr uint64_t kValueBytes = 10 * kMebibyte;
  const uint64_t files = 14 * MemoryTestTimes();
  for (uint64_t i = 0; i < files; ++i) {
    RowMutation mutation("row");
    mutation.SetCell("f", fmt::format("{:04}", files - i), NoiseOf(i, kValueBytes));
    mutation.SetCell("one", "", "small");
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
  }
  Look("written");
  for (const bool reverse : {false, true})
    EXPECT_EQ(CountCells({}, {.reverse = reverse, .row_piece_bytes = 1}), files + 1);
  Look("read");
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  Look("compacted");
  EXPECT_EQ(CountCells({}, {.row_piece_bytes = 1}), files + 1);
  EXPECT_LE(peak_.growth_bytes(), kBoundBytes);
}

}  // namespace
}  // namespace stele::internal
