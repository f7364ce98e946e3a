// A row asked for alone is the same whether a chain of cursors reads it or, as where one file has all of it, none does.
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

std::string ReadRowAlone(const HandmadeTable& table, const ChainOptions& options) {
  const std::string_view row_key = *options.only_row;
  const auto chain = OpenChain(table.view(), table.view().tablets[TabletIndexOf(table.view(), row_key)], options);
  if (!chain.ok()) return std::string(ToStd(chain.status().message()));
  if (*chain == nullptr) return "";
  std::string texts[2];
  for (std::string& text : texts) {  // a filter may want to see a row twice
    if (!(*chain)->SeekRow(row_key) || (*chain)->row_key() != row_key) continue;
    std::vector<Cell> cells;
    while ((*chain)->ReadCells(&cells)) {
    }
    for (const Cell& cell : cells) text += PrintCell(row_key, cell) + "\n";
  }
  EXPECT_EQ(texts[0], texts[1]);
  return texts[0];
}

// Only who may fill the cache reads plain rows without a chain.
void ExpectSame(const HandmadeTable& table, const std::vector<OwnedRow>& rows, Random* random, size_t* cell_count) {
  for (const OwnedRow& row : rows) {
    for (const std::string& row_key : {row.row_key, row.row_key + "+"}) {
      ChainOptions options{.sequence = table.sequence()};
      if (random->OneIn(3)) options.wanted_families = {random->OneIn(2), random->OneIn(2), random->OneIn(2), true};
      if (random->OneIn(3)) options.spans = std::vector<TimestampSpan>(4, {.least = 3, .greatest = 6});
      if (random->OneIn(2)) options.latest_only = true;
      if (!random->OneIn(3)) options.retention = RetentionPolicy{table.view().definition().retentions, 1'000'000, false, 0, true};
      options.only_row = row_key;
      const std::string alone = ReadRowAlone(table, options);
      options.fill_cache = false;
      EXPECT_EQ(alone, ReadRowAlone(table, options)) << row_key;
      *cell_count += static_cast<size_t>(std::count(alone.begin(), alone.end(), '\n'));
    }
  }
}

TEST(PlainRowTest, TellsWhatAChainTells) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RowShape shape{.row_count = 60, .family_count = 4, .cells_per_row = 12, .qualifier_count = 2};
    shape.tombstone_percent = seed % 3 == 0 ? 5 : 0;
    shape.narrow_family_count = seed % 2 == 0 ? 1 : 0;  // then in a section of its own
    shape.large_value_percent = seed % 4 == 0 ? 1 : 0;
    const std::vector<OwnedRow> rows = RandomRows(seed, shape);
    HandmadeTable table;
    table.AddFile(rows, KeyRange::All(), seed % 3 == 1 ? 512 : 4096);  // in small groups many rows go on in the next
    size_t cell_count = 0;
    ExpectSame(table, rows, &random, &cell_count);
    EXPECT_GT(cell_count, 200u);
    // Some rows are in two files then, and some in a memtable.
    table.AddFile(std::vector<OwnedRow>(rows.begin() + 20, rows.begin() + 40), KeyRange::All(), 4096);
    for (size_t i = 30; i < 50; i += 4) table.AddMemtable(rows[i].row_key + " a:new @9 = v\n");
    ExpectSame(table, rows, &random, &cell_count);
  }
}

}  // namespace
}  // namespace stele::internal
