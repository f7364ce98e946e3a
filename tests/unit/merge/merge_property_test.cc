// Tests the merge against brute force over all pairs of cells of all sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "merge/merge_cursor.h"
#include "support/base_sanitized.h"
#include "support/cell_naive_fold.h"
#include "support/cell_text.h"
#include "support/merge_history.h"

namespace stele::internal {
namespace {

struct Sources {
  HistoryShape shape;
  std::vector<OwnedRows> newest_first;
};

Sources RandomSources(Random& random) {
  Sources sources;
  sources.shape = {.row_count = 1 + random.Below(6),
                   .family_count = 1 + static_cast<uint32_t>(random.Below(3)),
                   .qualifier_count = 1 + random.Below(4),
                   .timestamp_count = 1 + static_cast<int64_t>(random.Below(20)),
                   .tombstone_percent = random.Below(60),
                   .last_family_adds = random.OneIn(2)};
  const size_t source_count = 2 + random.Below(5);
  for (size_t i = 0; i < source_count; ++i) {
    History history;
    for (uint64_t left = random.Below(60); left > 0; --left)
      history.push_back(RandomOperation(random, sources.shape));
    sources.newest_first.push_back(Resolve(history, 0, history.size()));
  }
  return sources;
}

std::vector<OwnedCell> CellsOf(const OwnedRows& rows, const std::string& row_key) {
  for (const OwnedRow& row : rows) {
    if (row.row_key == row_key) return row.cells;
  }
  return {};
}

bool AnyDeletes(const std::vector<OwnedCell>& cells, const OwnedCell& cell_key) {
  return std::any_of(cells.begin(), cells.end(),
                     [&](const OwnedCell& cell) { return Deletes(cell, cell_key); });
}

// Returns the versions of a row that survive: no newer source has the same cell key or deletes it.
std::vector<OwnedCell> SurvivingSets(const Sources& sources, const std::string& row_key) {
  std::vector<OwnedCell> surviving;
  for (size_t s = 0; s < sources.newest_first.size(); ++s) {
    for (const OwnedCell& cell : CellsOf(sources.newest_first[s], row_key)) {
      bool hidden = cell.View().is_tombstone();
      for (size_t newer = 0; newer < s; ++newer) {
        for (const OwnedCell& other : CellsOf(sources.newest_first[newer], row_key)) {
          hidden |= Deletes(other, cell) ||
                    (other.kind == CellKind::kSet && CompareCells(other.View(), cell.View()) == 0);
        }
      }
      if (!hidden) surviving.push_back(cell);
    }
  }
  std::sort(surviving.begin(), surviving.end(), [](const OwnedCell& a, const OwnedCell& b) {
    return CompareCells(a.View(), b.View()) < 0;
  });
  for (size_t i = 1; i < surviving.size();) {
    if (CompareCells(surviving[i - 1].View(), surviving[i].View()) != 0) {
      ++i;
      continue;
    }
    surviving[i - 1].value = NaiveFold("sum", {surviving[i - 1].value, surviving[i].value});
    surviving.erase(surviving.begin() + static_cast<ptrdiff_t>(i));
  }
  return surviving;
}

std::vector<OwnedCell> SetsOf(const std::vector<OwnedCell>& cells) {
  std::vector<OwnedCell> sets;
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(sets),
               [](const OwnedCell& cell) { return !cell.View().is_tombstone(); });
  return sets;
}

std::vector<std::string> RowKeysOf(const HistoryShape& shape) {
  std::vector<std::string> row_keys;
  for (uint64_t i = 0; i < shape.row_count; ++i) row_keys.push_back("row" + std::to_string(i));
  return row_keys;
}

// Returns every possible cell key.
std::vector<OwnedCell> CellKeys(const HistoryShape& shape) {
  std::vector<OwnedCell> cell_keys;
  for (uint32_t family = 1; family <= shape.family_count; ++family) {
    for (uint64_t qualifier = 0; qualifier < shape.qualifier_count; ++qualifier) {
      for (int64_t timestamp = 0; timestamp <= shape.timestamp_count; ++timestamp) {
        cell_keys.push_back({.family = family,
                             .timestamp = timestamp,
                             .qualifier = "q" + std::to_string(qualifier)});
      }
    }
  }
  return cell_keys;
}

TEST(MergePropertyTest, VersionsAndTombstonesAreThoseOfBruteForce) {
  for (uint64_t seed = 1; seed <= ReducedPart(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    const OwnedRows merged = ReadAll(MergeOf(sources.newest_first, random).get());
    const std::vector<OwnedCell> cell_keys = CellKeys(sources.shape);
    for (const std::string& row_key : RowKeysOf(sources.shape)) {
      const std::vector<OwnedCell> cells = CellsOf(merged, row_key);
      ASSERT_EQ(SetsOf(cells), SurvivingSets(sources, row_key)) << PrintRows(merged);
      for (const OwnedCell& cell_key : cell_keys) {
        bool deleted = false;
        for (const OwnedRows& rows : sources.newest_first)
          deleted |= AnyDeletes(CellsOf(rows, row_key), cell_key);
        ASSERT_EQ(AnyDeletes(cells, cell_key), deleted)
            << row_key << " " << PrintCell("", cell_key.View()) << "\n"
            << PrintRows(merged);
      }
    }
  }
}

// In rows that several sources have, the merge returns no tombstone that another one makes
// redundant.
TEST(MergePropertyTest, NoCoveredTombstonesInSharedColumns) {
  for (uint64_t seed = 1; seed <= ReducedPart(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sources sources = RandomSources(random);
    // A source with every column makes all columns shared, and the second source shares each row.
    History everywhere;
    for (const std::string& row_key : RowKeysOf(sources.shape)) {
      for (OwnedCell cell : CellKeys(sources.shape)) {
        cell.value = "x";
        if (cell.timestamp == 0) everywhere.push_back({row_key, cell, 0});
      }
    }
    sources.newest_first.insert(sources.newest_first.begin(), 2,
                                Resolve(everywhere, 0, everywhere.size()));
    for (const OwnedRow& row : ReadAll(MergeOf(sources.newest_first, random).get())) {
      for (const OwnedCell& a : row.cells) {
        for (const OwnedCell& b : row.cells) {
          if (&a == &b || !a.View().is_tombstone()) continue;
          ASSERT_FALSE(b.kind == CellKind::kDeleteRow) << PrintRows({row});
          ASSERT_FALSE(b.kind == CellKind::kDeleteFamily && b.family == a.family)
              << PrintRows({row});
          const OwnedCell oldest{
              .family = a.family, .timestamp = a.range_start, .qualifier = a.qualifier};
          ASSERT_FALSE(b.kind == CellKind::kDeleteRange && Deletes(b, a) && Deletes(b, oldest))
              << PrintRows({row});
        }
      }
    }
  }
}

TEST(MergePropertyTest, MergingContiguousPartsFirstChangesNothing) {
  for (uint64_t seed = 1; seed <= ReducedPart(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    const auto& all = sources.newest_first;
    const auto split = all.begin() + 1 + static_cast<ptrdiff_t>(random.Below(all.size() - 1));
    std::vector<OwnedRows> parts;
    parts.push_back(ReadAll(MergeOf({all.begin(), split}, random).get()));
    parts.push_back(ReadAll(MergeOf({split, all.end()}, random).get()));
    ASSERT_EQ(PrintAll(MergeOf(all, random).get()), PrintAll(MergeOf(parts, random).get()));
  }
}

TEST(MergePropertyTest, ReverseIsTheSameRowsBackwards) {
  for (uint64_t seed = 1; seed <= ReducedPart(150); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    OwnedRows reversed = ReadAll(MergeOf(sources.newest_first, random, Direction::kReverse).get());
    std::reverse(reversed.begin(), reversed.end());
    ASSERT_EQ(PrintRows(reversed), PrintAll(MergeOf(sources.newest_first, random).get()));
  }
}

// Makes up to twenty sources of every kind, for both directions: separate rows in ranges or
// alternating, rows that all sources have, and no rows.
Sources RandomManySources(Random& random) {
  Sources sources;
  sources.shape = {.row_count = 1 + random.Below(30),
                   .family_count = 2,
                   .qualifier_count = 2,
                   .timestamp_count = 6,
                   .tombstone_percent = 20};
  const uint64_t source_count = 1 + random.Below(20);
  const uint64_t stretch = 1 + random.Below(5);
  const uint64_t kind = random.Below(4);
  const auto has_row = [&](uint64_t source, uint64_t row) {
    if (kind == 0) return random.OneIn(3);
    if (kind == 1) return row / stretch % source_count == source;
    // Sometimes in one source, sometimes in many.
    if (kind == 2) return random.Below(10) < 2 + (row / 8 % 2) * 6;
    return true;
  };
  for (uint64_t i = 0; i < source_count; ++i) {
    History history;
    for (uint64_t row = 0; row < sources.shape.row_count; ++row) {
      if (random.OneIn(12) || !has_row(i, row)) continue;
      for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
        history.push_back(RandomOperation(random, sources.shape));
        history.back().row_key = "row" + std::to_string(row);
      }
    }
    if (random.OneIn(6)) history.clear();
    sources.newest_first.push_back(Resolve(history, 0, history.size()));
  }
  return sources;
}

TEST(MergePropertyTest, ManySourcesBothWays) {
  for (uint64_t seed = 1; seed <= ReducedPart(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomManySources(random);
    const OwnedRows merged = ReadAll(MergeOf(sources.newest_first, random).get());
    for (const std::string& row_key : RowKeysOf(sources.shape)) {
      ASSERT_EQ(SetsOf(CellsOf(merged, row_key)), SurvivingSets(sources, row_key)) << row_key;
    }
    const auto ascends = [](const OwnedRow& a, const OwnedRow& b) { return a.row_key < b.row_key; };
    ASSERT_TRUE(std::is_sorted(merged.begin(), merged.end(), ascends));
    OwnedRows reversed = ReadAll(MergeOf(sources.newest_first, random, Direction::kReverse).get());
    std::reverse(reversed.begin(), reversed.end());
    ASSERT_EQ(PrintRows(reversed), PrintRows(merged));
  }
}

TEST(MergePropertyTest, SeeksFindWhatAWalkFinds) {
  for (uint64_t seed = 1; seed <= ReducedPart(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      const OwnedRows all = ReadAll(MergeOf(sources.newest_first, random, direction).get());
      const auto cursor = MergeOf(sources.newest_first, random, direction);
      for (int i = 0; i < 8; ++i) {
        const std::string bound =
            "row" + std::to_string(random.Below(8)) + (random.OneIn(2) ? "x" : "");
        const auto inside = [&](const OwnedRow& row) {
          return direction == Direction::kForward ? row.row_key >= bound : row.row_key < bound;
        };
        const auto expected = std::find_if(all.begin(), all.end(), inside);
        std::vector<OwnedCell> cells;
        bool found = cursor->SeekRow(bound);
        std::string row_key;
        for (; found && cells.empty(); found = found && cells.empty() && cursor->NextRow()) {
          row_key = cursor->row_key();
          cells = ReadRow(cursor.get());
          if (!cells.empty()) break;
        }
        ASSERT_EQ(!cells.empty(), expected != all.end()) << bound;
        if (cells.empty()) continue;
        ASSERT_EQ(row_key, expected->row_key);
        ASSERT_EQ(cells, expected->cells);
      }
    }
  }
}

// `position` counts the cells of the whole row. The returned cells must be in order, complete from
// the target on, and cells of the row.
void CheckSkips(CellCursor* cursor, const std::vector<OwnedCell>& whole, const HistoryShape& shape,
                Random& random) {
  OwnedCell target{.kind = CellKind::kDeleteRange};
  size_t position = 0;
  const auto may_be_missing = [&](const OwnedCell& cell) {
    if (cell.kind == CellKind::kDeleteRow ||
        (cell.kind == CellKind::kDeleteFamily && cell.family == target.family))
      return false;
    return CompareColumn(cell.View(), target.View()) < 0;
  };
  std::vector<Cell> batch;
  for (bool more = true; more;) {
    if (random.OneIn(2)) {
      OwnedCell next{.family = 1 + static_cast<uint32_t>(random.Below(shape.family_count + 1)),
                     .kind = CellKind::kDeleteRange};
      next.qualifier =
          random.OneIn(3) ? "" : "q" + std::to_string(random.Below(shape.qualifier_count));
      if (CompareColumn(next.View(), target.View()) >= 0) {
        target = next;
        cursor->SkipTo(target.family, target.qualifier);
      }
    }
    batch.clear();
    more = ReadNextCells(cursor, &batch);
    for (const Cell& cell : batch) {
      while (position < whole.size() && whole[position].View().family != 0 &&
             may_be_missing(whole[position]) && CompareCells(whole[position].View(), cell) != 0) {
        ++position;
      }
      ASSERT_LT(position, whole.size());
      ASSERT_EQ(OwnedCell::Copy(cell), whole[position]);
      ++position;
    }
    if (random.OneIn(2)) cursor->Unpin();
  }
  while (position < whole.size() && may_be_missing(whole[position])) ++position;
  ASSERT_EQ(position, whole.size()) << "missing " << PrintCell("", whole[position].View());
}

TEST(MergePropertyTest, SkippingLosesNothingFromTheTargetOn) {
  for (uint64_t seed = 1; seed <= ReducedPart(800); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    const OwnedRows all = ReadAll(MergeOf(sources.newest_first, random).get());
    const auto cursor = MergeOf(sources.newest_first, random);
    for (bool found = cursor->SeekToEdge(); found; found = cursor->NextRow()) {
      CheckSkips(cursor.get(), CellsOf(all, std::string(cursor->row_key())), sources.shape, random);
      if (HasFatalFailure()) return;
    }
  }
}

// Long columns and long sequences: batches of kCellBatch end at every kind of position.
TEST(MergePropertyTest, LargeRowsStream) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sources sources;
    sources.shape = {.row_count = 1,
                     .family_count = 2,
                     .qualifier_count = 3,
                     .timestamp_count = 500,
                     .tombstone_percent = 2};
    for (int i = 0; i < 3; ++i) {
      History history;
      for (int left = 0; left < 700; ++left)
        history.push_back(RandomOperation(random, sources.shape));
      std::erase_if(history, [](const Operation& operation) {
        return operation.cell.kind == CellKind::kDeleteRow ||
               operation.cell.kind == CellKind::kDeleteFamily;
      });
      sources.newest_first.push_back(Resolve(history, 0, history.size()));
    }
    const OwnedRows merged = ReadAll(MergeOf(sources.newest_first, random).get());
    ASSERT_EQ(SetsOf(CellsOf(merged, "row0")), SurvivingSets(sources, "row0"));
    ASSERT_GT(CellsOf(merged, "row0").size(), kCellBatch);
  }
}

// Any call of any source may fail. The merge then returns a prefix of the correct result and the
// error, and calls no source again.
TEST(MergePropertyTest, AFailingSourceStopsTheMerge) {
  uint64_t failures = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Sources sources = RandomSources(random);
    const std::string whole = PrintAll(MergeOf(sources.newest_first, random).get());
    for (uint64_t failing_call = 1; failing_call < 40; ++failing_call) {
      std::vector<std::unique_ptr<CellCursor>> cursors;
      const size_t failing_source = random.Below(sources.newest_first.size());
      for (size_t s = 0; s < sources.newest_first.size(); ++s) {
        cursors.push_back(NewVectorCursor(
            sources.newest_first[s],
            {.batch_cells = 2, .failing_call = s == failing_source ? failing_call : 0}));
      }
      const auto cursor = NewMergeCursor(std::move(cursors), Direction::kForward);
      const std::string read = PrintAll(cursor.get());
      if (cursor->status().ok()) {
        ASSERT_EQ(read, whole);
      } else {
        ++failures;
        ASSERT_EQ(cursor->status().code(), absl::StatusCode::kDataLoss);
        ASSERT_EQ(read, whole.substr(0, read.size()));
        ASSERT_FALSE(cursor->NextRow());
        ASSERT_FALSE(cursor->SeekToEdge());
      }
    }
  }
  EXPECT_GT(failures, 500u);
}

}  // namespace
}  // namespace stele::internal
