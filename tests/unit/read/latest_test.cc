// Tests engine rule 13: sources that omit their history return the same newest version of every
// column as sources that do not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/mem_file_system.h"
#include "memtable/memtable.h"
#include "merge/merge_cursor.h"
#include "merge/run_cursor.h"
#include "support/base_sanitized.h"
#include "support/memtable_fill.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

constexpr int kSources = 3;
constexpr char kRunSplit[] = "row06";

using Readers = std::vector<std::shared_ptr<SstableReader>>;

// Makes columns with many versions and some range tombstones, and timestamps as users have them.
std::vector<OwnedRow> RowsOfVersions(Random& random) {
  std::vector<OwnedRow> rows;
  for (int r = 0; r < 12; ++r) {
    OwnedRow row{fmt::format("row{:02}", r), {}};
    for (int i = 0; i < 60; ++i) {
      OwnedCell cell{.family = 1 + static_cast<uint32_t>(random.Below(2)), .kind = CellKind::kSet};
      cell.qualifier = fmt::format("q{}", random.Below(3));
      cell.timestamp = 1 + static_cast<int64_t>(random.Below(60));
      cell.kind = cell.family == 2 ? CellKind::kSum : CellKind::kSet;
      cell.value = fmt::format("{:08}", random.Below(1000));
      if (random.OneIn(8)) {
        cell.kind = CellKind::kDeleteRange;
        cell.range_start =
            cell.timestamp -
            static_cast<int64_t>(random.Below(static_cast<uint64_t>(cell.timestamp)));
        cell.value.clear();
      }
      row.cells.push_back(std::move(cell));
    }
    if (random.OneIn(20)) row.cells.push_back({1, CellKind::kDeleteFamily, 0, 0, "", ""});
    SortCells(&row.cells);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Makes a source of one file, or of two files divided at kRunSplit.
std::unique_ptr<CellCursor> NewSource(const Readers& readers, const CursorOptions& options) {
  if (readers.size() == 1) return readers[0]->NewCursor(options);
  const auto open = [&readers,
                     options](size_t index) -> absl::StatusOr<std::unique_ptr<CellCursor>> {
    return readers[index]->NewCursor(options);
  };
  return NewRunCursor({{"", kRunSplit}, {kRunSplit, "", true}}, open, options.direction);
}

// Makes a memtable of the cells. A row's cells are committed in random order, in two commits.
std::unique_ptr<Memtable> NewMemtable(Random& random, const std::vector<OwnedRow>& rows) {
  auto memtable = std::make_unique<Memtable>(FamilyList({{1, "a"}, {2, "b"}}));
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) {
    BatchWriter writer;
    for (const OwnedRow& row : rows) {
      writer.StartRow(1, row.row_key);
      for (size_t i = 0; i < row.cells.size() / 2; ++i)
        writer.Add(OpOf(row.cells[random.Below(row.cells.size())]));
    }
    EXPECT_EQ(ApplyBatch(memtable.get(), sequence, writer.Finish()), absl::OkStatus());
  }
  return memtable;
}

using Memtables = std::vector<std::unique_ptr<Memtable>>;

// Returns the newest version of each column, row by row. Memtables are newer than files.
std::vector<std::string> Newest(const Memtables& memtables, const std::vector<Readers>& sources,
                                bool latest_only, Direction direction, bool unpins,
                                CursorStats* stats) {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const std::unique_ptr<Memtable>& memtable : memtables) {
    cursors.push_back(memtable->NewCursor(2, {.direction = direction,
                                              .families = AllFamilies(2),
                                              .latest_only = latest_only,
                                              .stats = stats}));
  }
  for (const Readers& readers : sources) {
    CursorOptions options;
    options.direction = direction;
    options.families = AllFamilies(2);
    options.latest_only = latest_only;
    options.stats = stats;
    cursors.push_back(NewSource(readers, options));
  }
  const auto merged = NewMergeCursor(std::move(cursors), direction);
  std::vector<std::string> newest;
  std::vector<Cell> cells;
  for (bool more = merged->SeekToEdge(); more; more = merged->NextRow()) {
    std::string column_before;
    for (cells.clear(); merged->ReadCells(&cells);) {
      for (const Cell& cell : cells) {
        if (cell.is_tombstone()) continue;
        const std::string column =
            fmt::format("{} {} {}", merged->row_key(), cell.family, cell.qualifier);
        if (column != column_before)
          newest.push_back(fmt::format("{} @{} {}", column, cell.timestamp, cell.value));
        column_before = column;
      }
      cells.clear();
      if (unpins) merged->Unpin();
    }
  }
  EXPECT_TRUE(merged->status().ok()) << merged->status();
  return newest;
}

TEST(LatestTest, IsTheSameWithoutHistory) {
  Random random(13);
  uint64_t history_reads = 0;
  const int rounds = static_cast<int>(ReducedPart(140));
  for (int round = 0; round < rounds; ++round) {
    MemFileSystem file_system;
    std::vector<Readers> sources(kSources);
    const auto add = [&](int source, std::vector<OwnedRow> rows) {
      const std::string path = fmt::format("{}-{}", source, sources[source].size());
      const auto written =
          WriteSstable(&file_system, path, std::move(rows), OptionsForTest(2, Codec::kLz4, 256));
      ASSERT_TRUE(written.ok()) << written.status();
      const auto reader = OpenSstableFile(&file_system, path);
      ASSERT_TRUE(reader.ok()) << reader.status();
      sources[source].push_back(*reader);
    };
    for (int i = 0; i < kSources; ++i) {
      std::vector<OwnedRow> rows = RowsOfVersions(random);
      if (i == round % (2 * kSources)) {
        const auto split = std::find_if(
            rows.begin(), rows.end(), [](const OwnedRow& row) { return row.row_key >= kRunSplit; });
        add(i, {rows.begin(), split});
        rows.erase(rows.begin(), split);
      }
      add(i, std::move(rows));
    }
    Memtables memtables;
    for (int i = round % 3; i > 0; --i)
      memtables.push_back(NewMemtable(random, RowsOfVersions(random)));
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      CursorStats stats;
      const auto expected = Newest(memtables, sources, false, direction, false, nullptr);
      EXPECT_EQ(Newest(memtables, sources, true, direction, round % 2 == 0, &stats), expected)
          << "round " << round;
      history_reads += stats.history_reads;
    }
  }
  EXPECT_GT(history_reads, ReducedPart(1000)) << "too few columns needed their history";
}

}  // namespace
}  // namespace stele::internal
