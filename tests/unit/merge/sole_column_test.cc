// Tests reads of one column through a merge that stops when no older source matters, against brute
// force.
#include "merge/sole_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/merge_cursor.h"
#include "support/merge_history.h"

namespace stele::internal {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
constexpr char kRow[] = "row0";

// Records whether its row was read.
class NotedCursor final : public CellCursor {
 public:
  NotedCursor(std::unique_ptr<CellCursor> cursor, bool* is_read)
      : cursor_(std::move(cursor)), is_read_(is_read) {}
  bool SeekToEdge() override { return cursor_->SeekToEdge(); }
  bool SeekRow(std::string_view bound) override { return cursor_->SeekRow(bound); }
  bool NextRow() override { return cursor_->NextRow(); }
  std::string_view row_key() const override { return cursor_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override {
    *is_read_ = true;
    return cursor_->ReadCells(cells);
  }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    cursor_->SkipTo(family, qualifier);
  }
  void Unpin() override { cursor_->Unpin(); }
  absl::Status status() const override { return cursor_->status(); }

 private:
  const std::unique_ptr<CellCursor> cursor_;
  bool* const is_read_;
};

// The cells of one row.
using SourceCells = std::vector<OwnedCell>;

struct Answer {
  SourceCells cells;           // versions of the column
  std::vector<bool> are_read;  // by source
};

SourceCells VersionsOf(CellCursor* merged, const SoleColumn& column, bool skips) {
  SourceCells versions;
  if (!merged->SeekRow(kRow)) return versions;
  if (skips) merged->SkipTo(column.family, column.qualifier);
  for (OwnedCell& cell : ReadRow(merged)) {
    const bool is_of_column = cell.family == column.family && cell.qualifier == column.qualifier;
    if (is_of_column && !cell.View().is_tombstone()) versions.push_back(std::move(cell));
  }
  EXPECT_EQ(merged->status(), absl::OkStatus());
  return versions;
}

std::unique_ptr<CellCursor> CursorOf(const SourceCells& cells, size_t batch_cells) {
  return NewVectorCursor(cells.empty() ? OwnedRows() : OwnedRows{{kRow, cells}},
                         {.batch_cells = batch_cells});
}

Answer Read(const std::vector<SourceCells>& newest_first, const SoleColumn& column,
            size_t batch_cells, bool skips) {
  const auto are_read = std::make_unique<bool[]>(newest_first.size());
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (size_t i = 0; i < newest_first.size(); ++i) {
    cursors.push_back(
        std::make_unique<NotedCursor>(CursorOf(newest_first[i], batch_cells), &are_read[i]));
  }
  const auto merged = NewMergeCursor(std::move(cursors), Direction::kForward, column);
  Answer answer{.cells = VersionsOf(merged.get(), column, skips)};
  answer.are_read.assign(are_read.get(), are_read.get() + newest_first.size());
  return answer;
}

// Reads through a merge that does not know that only one column is wanted.
SourceCells ReadAllOf(const std::vector<SourceCells>& newest_first, const SoleColumn& column,
                      size_t batch_cells) {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const SourceCells& cells : newest_first) cursors.push_back(CursorOf(cells, batch_cells));
  return VersionsOf(NewMergeCursor(std::move(cursors), Direction::kForward).get(), column, false);
}

// Returns the greatest timestamps of the older sources, as statistics of the family give them.
std::vector<int64_t> OlderGreatest(const std::vector<SourceCells>& newest_first, uint32_t family) {
  std::vector<int64_t> older_greatest(newest_first.size());
  int64_t greatest = kLeast;
  for (size_t i = newest_first.size(); i-- > 0;) {
    older_greatest[i] = greatest;
    for (const OwnedCell& cell : newest_first[i]) {
      if (cell.family == family && !cell.View().is_tombstone())
        greatest = std::max(greatest, cell.timestamp);
    }
  }
  return older_greatest;
}

TEST(SoleColumnTest, StoppingChangesNoAnswer) {
  size_t unread_count = 0;
  size_t answered_count = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const HistoryShape shape{.row_count = 1,
                             .family_count = 2,
                             .qualifier_count = 1 + random.Below(2),
                             .timestamp_count = 1 + static_cast<int64_t>(random.Below(12)),
                             .tombstone_percent = random.Below(60),
                             .last_family_adds = random.OneIn(2)};
    std::vector<SourceCells> sources;
    for (uint64_t left = 2 + random.Below(4); left > 0; --left) {
      History history;
      for (uint64_t operations = random.Below(8); operations > 0; --operations)
        history.push_back(RandomOperation(random, shape));
      const OwnedRows rows = Resolve(history, 0, history.size());
      sources.push_back(rows.empty() ? SourceCells() : rows.front().cells);
    }
    const std::string qualifier = "q" + std::to_string(random.Below(shape.qualifier_count));
    SoleColumn column{.family = 1 + static_cast<uint32_t>(random.Below(2)),
                      .qualifier = qualifier,
                      .latest_only = random.OneIn(2)};
    column.older_greatest = OlderGreatest(sources, column.family);
    const size_t batch_cells = 1 + random.Below(4);
    const bool skips = random.OneIn(2);
    const Answer answer = Read(sources, column, batch_cells, skips);
    const SourceCells expected = ReadAllOf(sources, column, batch_cells);
    if (column.latest_only) {
      ASSERT_EQ(answer.cells.empty(), expected.empty());
      ASSERT_TRUE(expected.empty() || answer.cells.front() == expected.front());
    } else {
      ASSERT_EQ(answer.cells, expected);
    }
    answered_count += !expected.empty();
    for (size_t i = 0; i < sources.size(); ++i)
      unread_count += !sources[i].empty() && !answer.are_read[i];
  }
  EXPECT_GT(answered_count, 500u);
  EXPECT_GT(unread_count, 500u);
}

OwnedCell Version(int64_t timestamp, CellKind kind = CellKind::kSet) {
  return {.family = 1,
          .kind = kind,
          .timestamp = timestamp,
          .qualifier = "q",
          .value = std::string(kind == CellKind::kSet ? 1 : 8, 'v')};
}
OwnedCell DeletesRange(int64_t start, int64_t newest) {
  return {.family = 1,
          .kind = CellKind::kDeleteRange,
          .timestamp = newest,
          .range_start = start,
          .qualifier = "q"};
}
const OwnedCell kDeletesFamily{.family = 1, .kind = CellKind::kDeleteFamily};
const OwnedCell kColumnBefore{.family = 1, .timestamp = 9, .qualifier = "p", .value = "v"};
const OwnedCell kColumnBehind{.family = 1, .timestamp = 1, .qualifier = "r", .value = "v"};

TEST(SoleColumnTest, SourcesAreReadUpToTheOneThatSettles) {
  struct Case {
    const char* what;
    std::vector<SourceCells> newest_first;
    bool latest_only;
    std::vector<bool> are_read;
  };
  const std::vector<Case> cases = {
      {"the newest is in the newest source",
       {{Version(5)}, {Version(4)}, {Version(3)}},
       true,
       {true, false, false}},
      {"of equal timestamps", {{Version(5)}, {Version(5)}}, true, {true, false}},
      {"an older source is newer",
       {{Version(5)}, {Version(4)}, {Version(6)}, {Version(2)}},
       true,
       {true, true, true, false}},
      {"all versions are asked for", {{Version(5)}, {Version(4)}}, false, {true, true}},
      {"all of the column is deleted",
       {{DeletesRange(0, kGreatest)}, {Version(4)}},
       false,
       {true, false}},
      {"all of the column is deleted, and written",
       {{DeletesRange(0, kGreatest), Version(4)}, {Version(9)}},
       false,
       {true, false}},
      {"the family is deleted", {{kDeletesFamily}, {Version(4)}}, false, {true, false}},
      {"from a timestamp on", {{DeletesRange(1, kGreatest)}, {Version(4)}}, true, {true, true}},
      {"up to a timestamp", {{DeletesRange(0, 7)}, {Version(4)}}, true, {true, true}},
      {"what may be hidden settles nothing",
       {{DeletesRange(3, 7)}, {Version(5)}, {Version(2)}},
       true,
       {true, true, true}},
      {"what stands beside a range of its own source",
       {{DeletesRange(3, 7), Version(5)}, {Version(2)}},
       true,
       {true, false}},
      {"deltas", {{Version(5, CellKind::kSum)}, {Version(4, CellKind::kSum)}}, true, {true, true}},
      {"another column says nothing",
       {{kColumnBehind}, {Version(4)}, {Version(3)}},
       true,
       {true, true, false}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const SoleColumn column{.family = 1,
                            .qualifier = "q",
                            .latest_only = one.latest_only,
                            .older_greatest = OlderGreatest(one.newest_first, 1)};
    EXPECT_EQ(Read(one.newest_first, column, 10, false).are_read, one.are_read);
    EXPECT_EQ(Read(one.newest_first, column, 10, true).are_read, one.are_read);
  }
}

// A source whose first cells are before the column may hide cells of an older source.
TEST(SoleColumnTest, WhatWasNotComeToMayHide) {
  const std::vector<SourceCells> sources = {
      {kColumnBefore, DeletesRange(3, 7)}, {Version(5)}, {Version(2)}};
  const SoleColumn column{.family = 1,
                          .qualifier = "q",
                          .latest_only = true,
                          .older_greatest = OlderGreatest(sources, 1)};
  const Answer answer = Read(sources, column, 1, false);
  ASSERT_EQ(answer.cells.size(), 1u);
  EXPECT_EQ(answer.cells.front().timestamp, 2);
}

}  // namespace
}  // namespace stele::internal
