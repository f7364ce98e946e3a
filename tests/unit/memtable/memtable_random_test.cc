#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "memtable/memtable.h"
#include "support/base_sanitized.h"
#include "support/cell_naive_fold.h"
#include "support/memtable_fill.h"
#include "unit/memtable/reference.h"

namespace stele::internal {
namespace {

// A memtable and the reference with the same contents. Few rows, columns and timestamps, so that
// everything collides.
class Twins {
 public:
  Twins(uint64_t seed, int rows, int qualifiers, int timestamps)
      : random_(seed),
        rows_(rows),
        qualifiers_(qualifiers),
        timestamps_(timestamps),
        memtable_(TestFamilies()) {}

  void Commit() {
    sequence_ += 1 + random_.Below(2);
    BatchWriter writer;
    uint32_t position = 0;
    for (uint64_t rows_left = 1 + random_.Below(3); rows_left > 0; --rows_left) {
      const std::string row_key = RandomRowKey();
      writer.StartRow(1, row_key);
      for (uint64_t ops_left = 1 + random_.Below(6); ops_left > 0; --ops_left) {
        const OwnedCell cell = RandomCell();
        writer.Add(OpOf(cell));
        reference_.Add({sequence_, position++}, row_key, cell);
      }
    }
    ASSERT_TRUE(ApplyBatch(&memtable_, sequence_, writer.Finish()).ok());
  }

  std::string RandomRowKey() { return fmt::format("row-with-prefix-{}", random_.Below(rows_)); }
  std::string RandomQualifier() {
    return std::string(1, static_cast<char>('a' + random_.Below(qualifiers_)));
  }
  // All families, some of them, or none.
  FamilyMap RandomFamilies() {
    FamilyMap families = {0, 1, 2, 3, 4};
    if (random_.OneIn(2)) return families;
    uint32_t family_index = 0;
    for (uint32_t source = 1; source <= 4; ++source)
      families[source] = random_.OneIn(2) ? kSkippedFamily : ++family_index;
    return families;
  }

  Random& random() { return random_; }
  const Memtable& memtable() const { return memtable_; }
  const Reference& reference() const { return reference_; }
  uint64_t sequence() const { return sequence_; }

 private:
  OwnedCell RandomCell() {
    const uint64_t kind = random_.Below(100);
    OwnedCell cell;
    if (kind < 3) {
      cell.kind = CellKind::kDeleteRow;
      return cell;
    }
    cell.family = 1 + random_.Below(4);
    if (kind < 8) {
      cell.kind = CellKind::kDeleteFamily;
      return cell;
    }
    cell.qualifier = RandomQualifier();
    cell.timestamp = random_.Below(timestamps_);
    if (kind < 30) {
      cell.kind = CellKind::kDeleteRange;
      cell.range_start = random_.OneIn(3) ? 0 : random_.Below(cell.timestamp + 1);
      return cell;
    }
    cell.kind = cell.family == 3   ? CellKind::kSum
                : cell.family == 4 ? CellKind::kHll
                                   : CellKind::kSet;
    cell.value = fmt::format("{}", sequence_);
    if (cell.kind == CellKind::kSum) cell.value = NaiveNumber(static_cast<int64_t>(random_.Next()));
    if (cell.kind == CellKind::kHll)
      cell.value = NaiveSketch({fmt::format("item {}", random_.Below(1000))});
    return cell;
  }

  Random random_;
  const int rows_, qualifiers_, timestamps_;
  Memtable memtable_;
  Reference reference_;
  uint64_t sequence_ = 0;
};

// The memtable may return rows without cells; the reference returns none.
bool ToRowWithCells(CellCursor* cursor, bool found, std::vector<OwnedCell>* cells) {
  for (; found; found = cursor->NextRow()) {
    *cells = ReadRow(cursor);
    if (!cells->empty()) return true;
  }
  return false;
}

void ExpectSameAsOf(Twins* twins, uint64_t sequence) {
  const FamilyMap families = twins->RandomFamilies();
  const OwnedRows expected = twins->reference().Resolve(sequence, families);
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    auto cursor =
        twins->memtable().NewCursor(sequence, {.direction = direction, .families = families});
    OwnedRows rows = ReadAll(cursor.get());
    if (direction == Direction::kReverse) std::reverse(rows.begin(), rows.end());
    ASSERT_EQ(PrintRows(WithRangesJoined(rows)), PrintRows(WithRangesJoined(expected)))
        << "as of " << sequence;
    auto naive = NewVectorCursor(expected, {.direction = direction});
    for (int i = 0; i < 4; ++i) {
      const std::string bound = twins->RandomRowKey();
      std::vector<OwnedCell> cells, naive_cells;
      const bool found = ToRowWithCells(cursor.get(), cursor->SeekRow(bound), &cells);
      ASSERT_EQ(found, ToRowWithCells(naive.get(), naive->SeekRow(bound), &naive_cells));
      if (!found) continue;
      ASSERT_EQ(cursor->row_key(), naive->row_key());
      ASSERT_EQ(WithRangesJoined(cells), WithRangesJoined(naive_cells));
    }
  }
}

// Reads each row that is plain, and returns how many there were.
int ExpectSamePlainRows(Twins* twins, uint64_t sequence, int row_count) {
  const FamilyMap families = twins->RandomFamilies();
  const OwnedRows expected = twins->reference().Resolve(sequence, families);
  int plain_count = 0;
  for (int i = 0; i < row_count; ++i) {
    const std::string row_key = fmt::format("row-with-prefix-{}", i);
    const RowNode* const row = twins->memtable().FindRow(row_key);
    std::vector<Cell> cells;
    if (row == nullptr || !Memtable::ReadPlainRow(*row, sequence, {.families = families}, &cells))
      continue;
    ++plain_count;
    std::vector<OwnedCell> owned;
    for (const Cell& cell : cells) owned.push_back(OwnedCell::Copy(cell));
    const auto same = std::find_if(expected.begin(), expected.end(),
                                   [&](const OwnedRow& each) { return each.row_key == row_key; });
    EXPECT_EQ(owned, same == expected.end() ? std::vector<OwnedCell>() : same->cells) << row_key;
  }
  return plain_count;
}

void ExpectSameSkips(Twins* twins, uint64_t sequence) {
  const FamilyMap families = twins->RandomFamilies();
  auto cursor = twins->memtable().NewCursor(sequence, {.families = families});
  auto naive = NewVectorCursor(twins->reference().Resolve(sequence, families), {});
  for (bool found = naive->SeekToEdge(); found; found = naive->NextRow()) {
    ASSERT_TRUE(cursor->SeekRow(naive->row_key()));
    ASSERT_EQ(cursor->row_key(), naive->row_key());
    const uint32_t family = 1 + twins->random().Below(4);
    const std::string qualifier = twins->RandomQualifier();
    cursor->SkipTo(family, qualifier);
    naive->SkipTo(family, qualifier);
    const OwnedRows rows = WithRangesJoined({{"r", ReadRow(cursor.get())}});
    ASSERT_EQ(PrintRows(rows), PrintRows(WithRangesJoined({{"r", ReadRow(naive.get())}})))
        << family << ":" << qualifier;
  }
}

std::vector<OwnedCell> ReadLatest(CellCursor* cursor) {
  std::vector<Cell> cells;
  while (cursor->ReadCells(&cells)) {
  }
  std::vector<OwnedCell> latest;
  for (const Cell& cell : cells) latest.push_back(OwnedCell::Copy(cell));
  return latest;
}

// Reads the versions of the column that were left out, in parts.
void AppendHistory(CellCursor* cursor, const OwnedCell& column, std::vector<OwnedCell>* cells) {
  std::vector<Cell> part;
  do {
    part.clear();
    ASSERT_TRUE(cursor->ReadHistory(column.family, column.qualifier, &part));
    for (const Cell& cell : part) cells->push_back(OwnedCell::Copy(cell));
  } while (!part.empty());
}

// The latest cells are the tombstones and the newest version of each column; the others are the
// history.
void ExpectSameLatestAndHistory(Twins* twins, uint64_t sequence) {
  const FamilyMap families = twins->RandomFamilies();
  auto cursor = twins->memtable().NewCursor(sequence, {.families = families, .latest_only = true});
  for (const OwnedRow& row : twins->reference().Resolve(sequence, families)) {
    ASSERT_TRUE(cursor->SeekRow(row.row_key));
    ASSERT_EQ(cursor->row_key(), row.row_key);
    std::vector<OwnedCell> cells = ReadLatest(cursor.get());
    std::vector<OwnedCell> latest = WithRangesJoined(cells);
    const std::vector<OwnedCell> expected = WithRangesJoined(row.cells);
    const OwnedCell* newest = nullptr;
    for (const OwnedCell& cell : expected) {
      const bool is_newest = newest == nullptr || CompareColumn(newest->View(), cell.View()) != 0;
      if (!cell.View().is_tombstone() && !is_newest) continue;
      ASSERT_TRUE(std::find(latest.begin(), latest.end(), cell) != latest.end());
      if (!cell.View().is_tombstone()) newest = &cell;
    }
    for (const OwnedCell& cell : latest) {
      if (!cell.View().is_tombstone()) AppendHistory(cursor.get(), cell, &cells);
    }
    std::sort(cells.begin(), cells.end(), [](const OwnedCell& a, const OwnedCell& b) {
      return CompareCells(a.View(), b.View()) < 0;
    });
    ASSERT_EQ(PrintRows({{"r", WithRangesJoined(cells)}}), PrintRows({{"r", expected}}));
  }
}

struct Shape {
  int rows, qualifiers, timestamps, commits;
};

TEST(MemtableRandom, HandsOutWhatTheReferenceDoes) {
  const Shape shapes[] = {
      {40, 4, 8, 60}, {3, 3, 5, 60}, {1, 2, 40, 120}, {1, 26, 3, 120}, {1, 1, 90, 160}};
  int plain_count = 0;
  for (uint64_t seed = 1; seed <= ReducedPart(5); ++seed) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(
          fmt::format("seed {} rows {} qualifiers {}", seed, shape.rows, shape.qualifiers));
      Twins twins(seed, shape.rows, shape.qualifiers, shape.timestamps);
      for (int commit = 1; commit <= shape.commits; ++commit) {
        twins.Commit();
        if (commit % 20 != 0) continue;
        for (int i = 0; i < 4; ++i) {
          const uint64_t sequence =
              i == 0 ? twins.sequence() : twins.random().Below(twins.sequence() + 1);
          ExpectSameAsOf(&twins, sequence);
          ExpectSameSkips(&twins, sequence);
          ExpectSameLatestAndHistory(&twins, sequence);
          if (testing::Test::HasFatalFailure()) return;
          plain_count += ExpectSamePlainRows(&twins, sequence, shape.rows);
        }
      }
    }
  }
  EXPECT_GT(plain_count, 50) << "of 5 x 5 x 3 to 8 x 4 views of up to 40 rows";
}

}  // namespace
}  // namespace stele::internal
