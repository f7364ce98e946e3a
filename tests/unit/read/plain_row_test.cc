// Tests that a point read returns the same whether a cursor tree reads the row or, if it is plain
// in all its sources, no cursor does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "read/source_chain.h"
#include "support/cell_text.h"
#include "support/read_fixture.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

struct Column {
  uint32_t family = kRowFamily;  // kRowFamily: the start of the row
  std::string qualifier;

  bool Precedes(const Cell& cell) const {
    return cell.family != family ? cell.family > family : cell.qualifier >= qualifier;
  }
};

// True if a read with latest_only may leave out the cell, which follows `previous`.
bool IsOlderVersion(const Cell& previous, const Cell& cell) {
  return !previous.is_tombstone() && !cell.is_tombstone() && CompareColumn(previous, cell) == 0;
}

// Reads from a column on. With latest_only, the result has one version of each column.
std::string ReadPlainRowAlone(const HandmadeTable& table, const ChainOptions& options,
                              const Column& from = {}) {
  const std::string_view row_key = *options.only_row;
  const auto chain =
      OpenChain(table.view(), table.view().tablets[TabletIndexOf(table.view(), row_key)], options);
  if (!chain.ok()) return std::string(ToStd(chain.status().message()));
  if (*chain == nullptr) return "";
  std::string texts[2];
  for (std::string& text : texts) {  // a filter may need the row twice
    if (!(*chain)->SeekRow(row_key) || (*chain)->row_key() != row_key) continue;
    if (from.family != kRowFamily) (*chain)->SkipTo(from.family, from.qualifier);
    std::vector<Cell> cells;
    while ((*chain)->ReadCells(&cells)) {
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      if (options.latest_only && i > 0 && IsOlderVersion(cells[i - 1], cells[i])) continue;
      if (from.Precedes(cells[i])) text += PrintCell(row_key, cells[i]) + "\n";
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
  return texts[0];
}

// Point reads bypass the cursor tree only if they may fill the cache.
void ExpectSame(const HandmadeTable& table, const std::vector<OwnedRow>& rows, Random* random,
                size_t* cell_count) {
  for (const OwnedRow& row : rows) {
    for (const std::string& row_key : {row.row_key, row.row_key + "+"}) {
      ChainOptions options{.sequence = table.sequence()};
      if (random->OneIn(3))
        options.wanted_families = {random->OneIn(2), random->OneIn(2), random->OneIn(2), true};
      if (random->OneIn(3))
        options.spans = std::vector<TimestampSpan>(4, {.least = 3, .greatest = 6});
      if (random->OneIn(2)) options.latest_only = true;
      if (!random->OneIn(3))
        options.retention =
            RetentionPolicy{table.view().definition().retentions, 1'000'000, false, 0, true};
      options.only_row = row_key;
      Column from;
      if (random->OneIn(3))
        from = {1 + static_cast<uint32_t>(random->Below(4)),
                "q" + std::to_string(random->Below(2))};
      const std::string alone = ReadPlainRowAlone(table, options, from);
      options.fill_cache = false;
      EXPECT_EQ(alone, ReadPlainRowAlone(table, options, from)) << row_key;
      *cell_count += static_cast<size_t>(std::count(alone.begin(), alone.end(), '\n'));
    }
  }
}

// Compares a column of each row: its newest version, or all versions.
void ExpectColumnsSame(const HandmadeTable& table, const std::vector<OwnedRow>& rows,
                       Random* random, size_t* found_count) {
  for (const OwnedRow& row : rows) {
    const ColumnRange column{.family = 1 + static_cast<uint32_t>(random->Below(2)),
                             .first = "q" + std::to_string(random->Below(2))};
    ChainOptions options{
        .sequence = table.sequence(), .latest_only = random->OneIn(2), .only_row = row.row_key};
    options.retention =
        RetentionPolicy{table.view().definition().retentions, 1'000'000, false, 0, true};
    std::string answers[2];
    for (std::string& answer : answers) {
      const std::string cells = ReadPlainRowAlone(table, options, {column.family, column.first});
      const std::string prefix =
          row.row_key + " " + static_cast<char>('a' + column.family - 1) + ":" + column.first + " ";
      for (size_t line = 0; line < cells.size(); line = cells.find('\n', line) + 1) {
        if (cells.compare(line, prefix.size(), prefix) != 0) continue;
        answer += cells.substr(line, cells.find('\n', line) + 1 - line);
        if (options.latest_only) break;
      }
      options.sole_column = &column;
    }
    EXPECT_EQ(answers[0], answers[1]) << row.row_key;
    *found_count += !answers[0].empty();
  }
}

TEST(PlainRowTest, OneColumnIsTheSameWhereNoOtherIsAskedFor) {
  size_t found_count = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RowShape shape{.row_count = 60, .family_count = 4, .cells_per_row = 12, .qualifier_count = 2};
    shape.tombstone_percent = seed % 3 == 0 ? 20 : 0;
    HandmadeTable table;
    std::vector<OwnedRow> rows;
    for (uint64_t file = 0; file < 4; ++file) {
      rows = RandomRows(100 * seed + file, shape);
      // The same in all files.
      for (size_t i = 0; i < rows.size(); ++i) rows[i].row_key = "row" + std::to_string(100 + i);
      table.AddFile(rows, KeyRange::All(), 4096);
    }
    for (size_t i = 0; i < rows.size(); i += 3)
      table.AddMemtable(rows[i].row_key + " a:q0 @" + std::to_string(i / 3) + " = v\n");
    ExpectColumnsSame(table, rows, &random, &found_count);
  }
  EXPECT_GT(found_count, 100u);
}

TEST(PlainRowTest, TellsWhatAChainTells) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RowShape shape{.row_count = 60, .family_count = 4, .cells_per_row = 12, .qualifier_count = 2};
    shape.tombstone_percent = seed % 3 == 0 ? 5 : 0;
    shape.narrow_family_count = seed % 2 == 0 ? 1 : 0;  // then in a separate section
    shape.large_value_percent = seed % 4 == 0 ? 1 : 0;
    const std::vector<OwnedRow> rows = RandomRows(seed, shape);
    HandmadeTable table;
    // In small row groups many rows continue in the next group.
    table.AddFile(rows, KeyRange::All(), seed % 3 == 1 ? 512 : 4096);
    size_t cell_count = 0;
    ExpectSame(table, rows, &random, &cell_count);
    EXPECT_GT(cell_count, 200u);
    // Some rows are now in two files, and some in a memtable.
    table.AddFile(std::vector<OwnedRow>(rows.begin() + 20, rows.begin() + 40), KeyRange::All(),
                  4096);
    for (size_t i = 30; i < 50; i += 4) table.AddMemtable(rows[i].row_key + " a:new @9 = v\n");
    ExpectSame(table, rows, &random, &cell_count);
    // Newer values of the same cell keys, in two files and two memtables.
    HandmadeTable live;
    live.AddFile(rows, KeyRange::All(), 4096);
    std::vector<OwnedRow> newer(rows.begin() + 10, rows.begin() + 45);
    for (OwnedRow& row : newer) {
      for (OwnedCell& cell : row.cells) {
        if (cell.kind == CellKind::kSet) cell.value = "of the second file";
      }
    }
    live.AddFile(newer, KeyRange::All(), 4096);
    std::string newest;
    for (size_t i = 25; i < 55; i += 2) {
      for (int timestamp = 1; timestamp <= 8; timestamp += 3)
        newest += fmt::format("{} a:q{} @{} = newer\n", rows[i].row_key, i / 2 % 2, timestamp);
    }
    live.AddMemtable(newest);
    live.AddMemtable(rows[25].row_key + " a:q0 @4 = newest\n");
    ExpectSame(live, rows, &random, &cell_count);
  }
}

}  // namespace
}  // namespace stele::internal
