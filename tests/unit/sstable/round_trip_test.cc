// Tests that an SSTable returns the rows written to it: every shape of row, both directions, seeks,
// projections, skips, with and without a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/status.h"
#include "io/mem_file_system.h"
#include "sstable/format/bloom.h"
#include "sstable/inspect/sstable_verify.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

struct NamedShape {
  const char* name;
  RowShape shape;
  uint32_t row_group_bytes = 1024;
  Codec codec = Codec::kLz4;
};

const NamedShape kShapes[] = {
    {"narrow", {.row_count = 500, .family_count = 1, .cells_per_row = 1, .qualifier_count = 1}},
    {"common", {.row_count = 400, .family_count = 2, .cells_per_row = 5}, 4096},
    {"zstd", {.row_count = 300, .family_count = 3}, 2048, Codec::kZstd},
    {"raw", {.row_count = 300, .family_count = 3, .is_key_length_fixed = false}, 700, Codec::kNone},
    {"hundred_families", {.row_count = 150, .family_count = 100, .cells_per_row = 9}, 8192},
    {"wide_rows",
     {.row_count = 5, .family_count = 3, .cells_per_row = 2000, .qualifier_count = 0},
     400},
    {"long_histories",
     {.row_count = 6, .family_count = 2, .cells_per_row = 2000, .qualifier_count = 3},
     400},
    {"wide_among_narrow",
     {.row_count = 120, .family_count = 4, .cells_per_row = 30, .qualifier_count = 40},
     256},
    {"tombstones",
     {.row_count = 300, .family_count = 5, .cells_per_row = 8, .tombstone_percent = 70},
     512},
    {"deltas",
     {.row_count = 300,
      .family_count = 4,
      .cells_per_row = 8,
      .qualifier_count = 3,
      .delta_family_count = 3},
     512},
    {"deltas_zstd",
     {.row_count = 40,
      .family_count = 2,
      .cells_per_row = 300,
      .qualifier_count = 4,
      .delta_family_count = 2},
     400,
     Codec::kZstd},
    {"empty_values", {.row_count = 300, .family_count = 2, .cells_per_row = 4, .value_bytes = 0}},
    {"narrow_family",
     {.row_count = 300, .family_count = 4, .value_bytes = 600, .narrow_family_count = 2},
     512},
    {"narrow_family_zstd",
     {.row_count = 900, .family_count = 3, .value_bytes = 600, .narrow_family_count = 1},
     2048,
     Codec::kZstd},
    {"narrow_histories",
     {.row_count = 40,
      .family_count = 3,
      .cells_per_row = 300,
      .qualifier_count = 4,
      .value_bytes = 500,
      .narrow_family_count = 1},
     512},
    {"large_values_beside_narrow",
     {.row_count = 6,
      .family_count = 3,
      .cells_per_row = 400,
      .qualifier_count = 0,
      .value_bytes = 200,
      .large_value_percent = 2,
      .narrow_family_count = 1},
     1024},
    {"large_values",
     {.row_count = 12, .family_count = 2, .cells_per_row = 4, .large_value_percent = 30},
     1024},
};

class RoundTrip : public testing::TestWithParam<NamedShape> {
 protected:
  void SetUp() override {
    const NamedShape& named = GetParam();
    rows_ = RandomRows(/*seed=*/named.shape.row_count, named.shape);
    options_ = OptionsForTest(named.shape.family_count, named.codec, named.row_group_bytes);
    const auto summary = WriteSstable(&file_system_, "table", rows_, options_);
    ASSERT_TRUE(summary.ok()) << summary.status();
    summary_ = *summary;
    const auto reader = OpenSstableFile(&file_system_, "table", &summary_, &cache_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *reader;
  }

  std::unique_ptr<CellCursor> NewCursor(Direction direction, const FamilyMap& map) {
    CursorOptions options;
    options.direction = direction;
    options.families = map;
    options.fill_cache = random_.OneIn(2);
    return reader_->NewCursor(options);
  }

  // Maps about half of the families, to family indexes with gaps.
  FamilyMap RandomMap() {
    FamilyMap map(GetParam().shape.family_count + 1, kSkippedFamily);
    uint32_t family_index = 0;
    for (size_t i = 1; i < map.size(); ++i) {
      family_index += 1 + static_cast<uint32_t>(random_.Below(2));
      if (random_.OneIn(2)) map[i] = family_index;
    }
    return map;
  }

  // A row without a wanted cell need not be returned. Returns whether this one was omitted.
  static bool IsLeftOut(const OwnedRow& row, const FamilyMap& map, const CellCursor& cursor,
                        bool is_positioned) {
    return Projected(row.cells, map).empty() && (!is_positioned || cursor.row_key() != row.row_key);
  }

  void ExpectRow(const OwnedRow& row, const FamilyMap& map, CellCursor* cursor) {
    ASSERT_EQ(cursor->row_key(), row.row_key);
    const std::vector<OwnedCell> wanted = Projected(row.cells, map);
    const std::vector<OwnedCell> got = ReadPinnedRow(cursor);
    ASSERT_TRUE(cursor->status().ok()) << cursor->status();
    ASSERT_EQ(got.size(), wanted.size()) << row.row_key;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], wanted[i]) << ToText(got[i]) << " but wanted " << ToText(wanted[i]);
  }

  std::string RandomBound() {
    std::string bound = rows_[random_.Below(rows_.size())].row_key;
    switch (random_.Below(4)) {
      case 0:
        bound += '\0';
        break;
      case 1:
        bound = bound.substr(0, random_.Below(bound.size() + 1));
        break;
      case 2:
        bound += "\xff\xff";
        break;
      default:
        break;
    }
    return bound;
  }

  Random random_{7};
  MemFileSystem file_system_;
  BlockCache cache_{1 << 20};
  std::vector<OwnedRow> rows_;
  SstableBuilderOptions options_;
  SstableSummary summary_;
  std::shared_ptr<SstableReader> reader_;
};

TEST_P(RoundTrip, ForwardAndReverse) {
  for (const bool all : {true, false}) {
    const FamilyMap map = all ? AllFamilies(GetParam().shape.family_count) : RandomMap();
    auto forward = NewCursor(Direction::kForward, map);
    bool more = forward->SeekToEdge();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsLeftOut(rows_[i], map, *forward, more)) continue;
      ASSERT_TRUE(more) << forward->status();
      if (!random_.OneIn(4)) {
        ASSERT_NO_FATAL_FAILURE(ExpectRow(rows_[i], map, forward.get()));
      }
      more = forward->NextRow();
    }
    EXPECT_FALSE(more);
    EXPECT_TRUE(forward->status().ok()) << forward->status();

    auto reverse = NewCursor(Direction::kReverse, map);
    more = reverse->SeekToEdge();
    for (size_t i = rows_.size(); i-- > 0;) {
      if (IsLeftOut(rows_[i], map, *reverse, more)) continue;
      ASSERT_TRUE(more) << reverse->status();
      if (!random_.OneIn(4)) {
        ASSERT_NO_FATAL_FAILURE(ExpectRow(rows_[i], map, reverse.get()));
      }
      more = reverse->NextRow();
    }
    EXPECT_FALSE(more);
    EXPECT_TRUE(reverse->status().ok()) << reverse->status();
  }
}

// A reader that knows the file from the manifest does not keep the edit in memory.
TEST_P(RoundTrip, TheEditOfTheFile) {
  EXPECT_EQ((*OpenSstableFile(&file_system_, "table"))->edit(), "");
  options_.edit = std::string("an edit\0", 8);
  const auto summary = WriteSstable(&file_system_, "with edit", rows_, options_);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->file_bytes, summary_.file_bytes);
  EXPECT_EQ((*OpenSstableFile(&file_system_, "with edit"))->edit(), options_.edit);
  const auto known = OpenSstableFile(&file_system_, "with edit", &*summary);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ((*known)->edit(), "");
  EXPECT_EQ(ReadWholeSstable(**known)->size(), rows_.size());
}

TEST_P(RoundTrip, Seeks) {
  const FamilyMap map = RandomMap();
  auto forward = NewCursor(Direction::kForward, map);
  auto reverse = NewCursor(Direction::kReverse, map);
  const auto by_key = [](const OwnedRow& row, const std::string& bound) {
    return row.row_key < bound;
  };
  for (int i = 0; i < 60; ++i) {
    const std::string bound = RandomBound();
    const auto place = std::lower_bound(rows_.begin(), rows_.end(), bound, by_key);
    bool more = forward->SeekRow(bound);
    int steps = 0;
    for (auto at = place; steps < 3 && at != rows_.end(); ++at) {
      if (IsLeftOut(*at, map, *forward, more)) continue;
      ASSERT_TRUE(more) << forward->status();
      if (!random_.OneIn(3)) {
        ASSERT_NO_FATAL_FAILURE(ExpectRow(*at, map, forward.get()));
      }
      more = forward->NextRow();
      ++steps;
    }
    ASSERT_TRUE(steps == 3 || !more);
    more = reverse->SeekRow(bound);
    steps = 0;
    for (auto at = place; steps < 3 && at != rows_.begin();) {
      --at;
      if (IsLeftOut(*at, map, *reverse, more)) continue;
      ASSERT_TRUE(more) << reverse->status();
      if (!random_.OneIn(3)) {
        ASSERT_NO_FATAL_FAILURE(ExpectRow(*at, map, reverse.get()));
      }
      more = reverse->NextRow();
      ++steps;
    }
    ASSERT_TRUE(steps == 3 || !more);
  }
}

// SkipTo may omit cells before its column, except tombstones that reach into it. From the column
// on, no cell may be missing.
void ExpectSkipped(const std::vector<OwnedCell>& wanted, const std::vector<OwnedCell>& got,
                   const OwnedCell& column) {
  size_t at = 0;
  for (const OwnedCell& cell : got) {
    while (at < wanted.size() && !(wanted[at] == cell)) ++at;
    ASSERT_LT(at, wanted.size()) << "out of order or made up: " << ToText(cell);
    ++at;
  }
  at = 0;
  for (const OwnedCell& cell : wanted) {
    const bool is_there = at < got.size() && got[at] == cell;
    if (is_there) ++at;
    const bool is_tombstone_over =
        cell.kind == CellKind::kDeleteRow ||
        (cell.kind == CellKind::kDeleteFamily && cell.family == column.family);
    const bool may_go = !is_tombstone_over && CompareColumn(cell.View(), column.View()) < 0;
    ASSERT_TRUE(is_there || may_go)
        << "left out: " << ToText(cell) << " after skip to " << ToText(column);
  }
}

TEST_P(RoundTrip, SkipTo) {
  const FamilyMap map = random_.OneIn(3) ? RandomMap() : AllFamilies(GetParam().shape.family_count);
  for (int i = 0; i < 60; ++i) {
    const OwnedRow& row = rows_[random_.Below(rows_.size())];
    const std::vector<OwnedCell> wanted = Projected(row.cells, map);
    auto cursor = NewCursor(Direction::kForward, map);
    const bool is_positioned = cursor->SeekRow(row.row_key);
    if (IsLeftOut(row, map, *cursor, is_positioned)) continue;
    ASSERT_TRUE(is_positioned);
    std::vector<OwnedCell> got;
    OwnedCell column;
    size_t target = 0;
    for (uint64_t skips = wanted.empty() ? 0 : 1 + random_.Below(3); skips > 0; --skips) {
      if (std::vector<Cell> cells; random_.OneIn(3) && cursor->ReadCells(&cells)) {
        for (const Cell& cell : cells) got.push_back(OwnedCell::Copy(cell));
        cursor->Unpin();
      }
      target += random_.Below(wanted.size() - target);
      OwnedCell next{.family = std::max(wanted[target].family, 1u),
                     .qualifier = wanted[target].qualifier};
      if (random_.OneIn(3)) next.qualifier = next.qualifier.substr(0, 1);
      if (CompareColumn(next.View(), column.View()) < 0) continue;
      column = next;
      cursor->SkipTo(column.family, column.qualifier);
    }
    for (const OwnedCell& cell : ReadPinnedRow(cursor.get())) got.push_back(cell);
    ASSERT_TRUE(cursor->status().ok()) << cursor->status();
    ASSERT_NO_FATAL_FAILURE(ExpectSkipped(wanted, got, column));
  }
}

TEST_P(RoundTrip, UnpinnedBatchesStream) {
  const FamilyMap map = AllFamilies(GetParam().shape.family_count);
  auto cursor = NewCursor(Direction::kForward, map);
  ASSERT_TRUE(cursor->SeekToEdge());
  for (const OwnedRow& row : rows_) {
    std::vector<Cell> cells;
    size_t count = 0;
    while (ReadNextCells(cursor.get(), &cells)) {
      ASSERT_LE(cells.size(), kCellBatch);
      ASSERT_GT(cells.size(), 0u);
      for (const Cell& cell : cells) ASSERT_EQ(OwnedCell::Copy(cell), row.cells[count++]);
      cells.clear();
      cursor->Unpin();
      ASSERT_EQ(cursor->row_key(), row.row_key);
    }
    ASSERT_EQ(count, row.cells.size());
    cursor->NextRow();
  }
}

// All cells returned since the last Unpin stay valid, however many batches there were.
TEST_P(RoundTrip, CellsStayUntilUnpin) {
  const FamilyMap map = AllFamilies(GetParam().shape.family_count);
  auto cursor = NewCursor(Direction::kForward, map);
  ASSERT_TRUE(cursor->SeekToEdge());
  for (const OwnedRow& row : rows_) {
    std::vector<Cell> cells;
    size_t count = 0;  // compared
    for (bool more = true; more;) {
      more = ReadNextCells(cursor.get(), &cells);
      if (more && !random_.OneIn(3)) continue;
      for (const Cell& cell : cells)
        ASSERT_EQ(OwnedCell::Copy(cell), row.cells[count++]) << row.row_key;
      cells.clear();
      cursor->Unpin();
    }
    ASSERT_EQ(count, row.cells.size());
    cursor->NextRow();
  }
}

TEST_P(RoundTrip, SummaryCountsWhatIsThere) {
  SstableSummary counted = summary_;
  counted.rows = rows_.size();
  counted.cells = counted.row_tombstones = counted.tombstones = counted.logical_bytes = 0;
  std::vector<FamilySummary> families(options_.family_ids.size());
  for (const OwnedRow& row : rows_) {
    counted.logical_bytes += row.row_key.size();
    std::map<std::pair<uint32_t, std::string>, uint64_t> versions;
    for (const OwnedCell& cell : row.cells) {
      if (cell.View().is_tombstone()) ++counted.tombstones;
      if (cell.kind == CellKind::kDeleteRow) ++counted.row_tombstones;
      if (cell.family == kRowFamily) continue;
      FamilySummary& family = families[cell.family - 1];
      family.logical_bytes += cell.qualifier.size() + 8 + cell.value.size();
      if (cell.View().is_tombstone()) {
        ++family.tombstones;
        continue;
      }
      family.timestamp_min =
          family.cells == 0 ? cell.timestamp : std::min(family.timestamp_min, cell.timestamp);
      family.timestamp_max =
          family.cells == 0 ? cell.timestamp : std::max(family.timestamp_max, cell.timestamp);
      ++family.cells;
      ++counted.cells;
      family.versions_max =
          std::max(family.versions_max, ++versions[{cell.family, cell.qualifier}]);
    }
  }
  counted.families.clear();
  for (size_t i = 0; i < families.size(); ++i) {
    families[i].family_id = options_.family_ids[i];
    counted.logical_bytes += families[i].logical_bytes;
    if (families[i].cells + families[i].tombstones > 0) counted.families.push_back(families[i]);
  }
  counted.first_row = rows_.front().row_key;
  counted.last_row = rows_.back().row_key;
  std::string wanted;
  std::string got;
  AppendSummary(&wanted, counted);
  AppendSummary(&got, reader_->summary());
  EXPECT_EQ(got, wanted);
}

TEST_P(RoundTrip, BloomHasNoFalseNegatives) {
  for (const OwnedRow& row : rows_)
    EXPECT_TRUE(reader_->MayContainRow(RowHash(row.row_key))) << row.row_key;
}

TEST_P(RoundTrip, BoundariesAscend) {
  std::string key_before;
  uint64_t offset_before = 0;
  for (const SstableReader::Boundary& boundary : reader_->Boundaries()) {
    EXPECT_GT(boundary.row_key, key_before);
    EXPECT_GT(boundary.offset_bytes, offset_before);
    EXPECT_LT(boundary.offset_bytes, summary_.file_bytes);
    key_before = boundary.row_key;
    offset_before = boundary.offset_bytes;
  }
}

TEST_P(RoundTrip, VerifyFindsNothing) {
  const absl::Status status = VerifySstable(*reader_, [](const SstableDamage& damage) {
    ADD_FAILURE() << damage.offset << " " << damage.what;
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(RoundTrip, SameInputSameBytes) {
  ASSERT_TRUE(WriteSstable(&file_system_, "again", rows_, options_).ok());
  EXPECT_EQ(*ReadBytes(&file_system_, "table"), *ReadBytes(&file_system_, "again"));
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoundTrip, testing::ValuesIn(kShapes),
                         [](const auto& info) { return std::string(info.param.name); });

// A prefetched value that the source had at an Unpin is returned by the next call, and stays valid
// while the following call reads.
TEST(SectionJoin, ALargeValueReadAheadStaysUntilUnpin) {
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 2000; ++i) {  // so that family 1 gets its own section
    rows.push_back({fmt::format("a{:04}", i),
                    {{1, CellKind::kSet, 1, 0, "n", "x"},
                     {2, CellKind::kSet, 1, 0, "q", std::string(500, 'w')}}});
  }
  OwnedRow row{"row", {}};
  for (int i = 0; i < 20; ++i)
    row.cells.push_back({1, CellKind::kSet, 1, 0, fmt::format("n{:03}", i), "x"});
  for (int i = 0; i < 300; ++i) {
    row.cells.push_back({2, CellKind::kSet, 1, 0, fmt::format("q{:03}", i),
                         i == 249 ? std::string(1 << 20, 'L') : "s"});
  }
  rows.push_back(row);
  MemFileSystem file_system;
  ASSERT_TRUE(
      WriteSstable(&file_system, "table", rows, OptionsForTest(2, Codec::kLz4, 32 << 10)).ok());
  const auto reader = OpenSstableFile(&file_system, "table");
  ASSERT_TRUE(reader.ok()) << reader.status();
  CursorOptions options;
  options.families = AllFamilies(2);
  const auto cursor = (*reader)->NewCursor(options);
  ASSERT_TRUE(cursor->SeekRow("row"));
  std::vector<Cell> cells;
  ASSERT_TRUE(cursor->ReadCells(&cells));
  const size_t count = cells.size();
  ASSERT_LT(count, 270u) << "the large value was to be read ahead";
  cells.clear();
  cursor->Unpin();
  while (cursor->ReadCells(&cells)) {
  }
  ASSERT_EQ(cells.size() + count, row.cells.size());
  for (size_t i = 0; i < cells.size(); ++i)
    ASSERT_TRUE(OwnedCell::Copy(cells[i]) == row.cells[count + i]) << count + i;
}

}  // namespace
}  // namespace stele::internal
