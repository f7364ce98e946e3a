// Tests lazy values (cell/cell.h): only values that leave merge and garbage collection are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {
namespace {

// One row "r" with these versions of one column, newest first. Each is in a separate batch, as
// large values are. Versions from `history` on are returned only on request. Reading the version of
// `damaged` fails.
class LargeVersions final : public CellCursor {
 public:
  LargeVersions(std::string name, std::vector<int64_t> timestamps, std::vector<int64_t>* reads,
                int64_t damaged = 0, size_t history = SIZE_MAX)
      : name_(std::move(name)),
        timestamps_(std::move(timestamps)),
        reads_(*reads),
        damaged_(damaged),
        history_next_(std::min(history, timestamps_.size())),
        end_(history_next_) {}

  bool SeekToEdge() override { return true; }
  bool SeekRow(std::string_view /*bound*/) override { return true; }
  bool NextRow() override { return false; }
  std::string_view row_key() const override { return "r"; }
  bool ReadCells(std::vector<Cell>* cells) override {
    if (next_ == end_) return false;
    Append(timestamps_[next_++], cells);
    return true;
  }
  void SkipTo(uint32_t /*family*/, std::string_view /*qualifier*/) override {}
  bool ReadHistory(uint32_t /*family*/, std::string_view /*qualifier*/,
                   std::vector<Cell>* cells) override {
    if (history_next_ < timestamps_.size()) Append(timestamps_[history_next_++], cells);
    return true;
  }
  void Unpin() override {
    while (values_.size() > 1) values_.pop_front();
    pinned_.clear();
  }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  class Value final : public LazyValue {
   public:
    explicit Value(LargeVersions* cursor) : cursor_(*cursor) {}
    absl::Status ReadInto(Cell* cell) override {
      cursor_.reads_.push_back(cell->timestamp);
      if (cell->timestamp == cursor_.damaged_) return DataLoss("file", 17, "damaged");
      std::string value = cursor_.name_ + std::to_string(cell->timestamp);
      value.resize(kBatchEndingBytes, '.');
      cell->SetReadValue(cursor_.pinned_.emplace_back(std::move(value)));
      return absl::OkStatus();
    }

   private:
    LargeVersions& cursor_;
  };

  void Append(int64_t timestamp, std::vector<Cell>* cells) {
    Cell& cell = cells->emplace_back();
    cell.family = 1;
    cell.timestamp = timestamp;
    cell.qualifier = "q";
    cell.SetLazy(&values_.emplace_back(this), kBatchEndingBytes);
  }

  const std::string name_;
  const std::vector<int64_t> timestamps_;
  std::vector<int64_t>& reads_;
  const int64_t damaged_;
  size_t history_next_;
  const size_t end_;
  size_t next_ = 0;
  std::deque<Value> values_;
  std::deque<std::string> pinned_;
};

class LazyValuesTest : public ::testing::Test {
 protected:
  std::unique_ptr<CellCursor> Chain(const GcRule& rule, int64_t damaged = 0) {
    std::vector<std::unique_ptr<CellCursor>> sources;
    sources.push_back(
        std::make_unique<LargeVersions>("new", std::vector<int64_t>{9, 5, 3}, &reads_, damaged));
    sources.push_back(
        std::make_unique<LargeVersions>("old", std::vector<int64_t>{8, 5, 1}, &reads_, damaged));
    rules_ = {Retention(rule)};
    return NewRetentionCursor(NewMergeCursor(std::move(sources), Direction::kForward),
                              {.rules = rules_, .reads_lazy_values = true});
  }
  // Returns the first bytes of the values, batch by batch.
  std::vector<std::string> ReadRow(CellCursor* chain) {
    std::vector<std::string> values;
    std::vector<Cell> cells;
    EXPECT_TRUE(chain->SeekToEdge());
    while (chain->ReadCells(&cells)) {
      for (const Cell& cell : cells) {
        EXPECT_FALSE(cell.is_lazy);
        EXPECT_EQ(cell.value.size(), kBatchEndingBytes);
        if (!cell.is_lazy) values.emplace_back(cell.value.substr(0, cell.value.find('.')));
      }
      cells.clear();
      chain->Unpin();
    }
    return values;
  }

  std::vector<int64_t> reads_;
  std::vector<Retention> rules_;
};

TEST_F(LazyValuesTest, WhatComesOutIsRead) {
  EXPECT_EQ(ReadRow(Chain(GcRule::None()).get()),
            (std::vector<std::string>{"new9", "old8", "new5", "new3", "old1"}));
  EXPECT_EQ(reads_, (std::vector<int64_t>{9, 8, 5, 3, 1})) << "the older source's 5 is hidden";
}

TEST_F(LazyValuesTest, WhatIsGarbageIsNotRead) {
  EXPECT_EQ(ReadRow(Chain(GcRule::MaxNumVersions(2)).get()),
            (std::vector<std::string>{"new9", "old8"}));
  EXPECT_EQ(reads_, (std::vector<int64_t>{9, 8}));
}

// Also those of a row of which nothing is removed.
TEST_F(LazyValuesTest, WhatIsKeptUncountedIsRead) {
  const std::vector<int64_t> timestamps = {9, 5};
  const auto chain = NewRetentionCursor(std::make_unique<LargeVersions>("v", timestamps, &reads_),
                                        {.reads_lazy_values = true, .kept_sources = {true}});
  EXPECT_EQ(ReadRow(chain.get()), (std::vector<std::string>{"v9", "v5"}));
  EXPECT_EQ(reads_, timestamps);
}

// Makes one row "r" with these cells of one column.
std::unique_ptr<CellCursor> SourceOf(std::vector<OwnedCell> cells) {
  for (OwnedCell& cell : cells) {
    cell.family = 1;
    cell.qualifier = "q";
  }
  return NewVectorCursor({{"r", std::move(cells)}}, {.batch_cells = 100});
}

// A read of the newest version ends at the first version of the history that is not deleted.
TEST_F(LazyValuesTest, OfHistoryNoMoreIsReadThanTheNewest) {
  for (const int64_t deleted_from : {9, 7}) {
    reads_.clear();
    std::vector<std::unique_ptr<CellCursor>> sources;
    sources.push_back(
        SourceOf({{.kind = CellKind::kDeleteRange, .timestamp = 9, .range_start = deleted_from}}));
    sources.push_back(std::make_unique<LargeVersions>("v", std::vector<int64_t>{9, 8, 7, 6, 5, 4},
                                                      &reads_, 0, 1));
    const auto chain = NewRetentionCursor(NewMergeCursor(std::move(sources), Direction::kForward),
                                          {.drop_tombstones = true, .reads_lazy_values = true});
    EXPECT_EQ(ReadRow(chain.get()),
              std::vector<std::string>{"v" + std::to_string(deleted_from - 1)});
    EXPECT_EQ(reads_, std::vector<int64_t>{deleted_from - 1});
  }
}

// Hidden versions further down do not cause a read of the history either.
TEST_F(LazyValuesTest, HistoryIsNotAskedForBehindTheNewest) {
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.push_back(SourceOf({{.timestamp = 10, .value = "newest"},
                              {.kind = CellKind::kDeleteRange, .timestamp = 9, .range_start = 9}}));
  sources.push_back(
      std::make_unique<LargeVersions>("v", std::vector<int64_t>{9, 8, 7}, &reads_, 0, 1));
  const auto chain = NewRetentionCursor(NewMergeCursor(std::move(sources), Direction::kForward),
                                        {.drop_tombstones = true, .reads_lazy_values = true});
  std::vector<Cell> cells;
  ASSERT_TRUE(chain->SeekToEdge());
  while (chain->ReadCells(&cells)) {
  }
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].value, "newest");
  EXPECT_TRUE(reads_.empty());
}

// A batch ends with a large value, also if sources share a column and none of them needs another
// read.
TEST_F(LazyValuesTest, ALargeValueEndsABatch) {
  const std::string large(kBatchEndingBytes, 'v');
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.push_back(SourceOf({{.timestamp = 9, .value = large},
                              {.timestamp = 7, .value = large},
                              {.timestamp = 5, .value = "5"}}));
  sources.push_back(SourceOf({{.timestamp = 8, .value = large},
                              {.timestamp = 6, .value = "6"},
                              {.timestamp = 4, .value = "4"}}));
  const auto merged = NewMergeCursor(std::move(sources), Direction::kForward);
  ASSERT_TRUE(merged->SeekToEdge());
  std::vector<size_t> batches;
  for (std::vector<Cell> cells; merged->ReadCells(&cells); cells.clear()) {
    batches.push_back(cells.size());
    merged->Unpin();
  }
  ASSERT_GE(batches.size(), 4u);
  EXPECT_EQ(std::vector<size_t>(batches.begin(), batches.begin() + 3),
            (std::vector<size_t>{1, 1, 1}));
}

// The remaining cells of a source stay readable after Unpin.
TEST_F(LazyValuesTest, AUserMayLetGoSeldom) {
  std::vector<int64_t> most;
  std::vector<int64_t> others;
  for (int64_t timestamp = 200; timestamp > 0; --timestamp)
    (timestamp % 3 == 0 ? others : most).push_back(timestamp);
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.push_back(std::make_unique<LargeVersions>("v", most, &reads_));
  sources.push_back(std::make_unique<LargeVersions>("v", others, &reads_));
  const std::unique_ptr<CellCursor> chain = NewRetentionCursor(
      NewMergeCursor(std::move(sources), Direction::kForward), {.reads_lazy_values = true});
  ASSERT_TRUE(chain->SeekToEdge());
  int64_t next = 200;
  std::vector<Cell> cells;
  for (bool more = true; more; chain->Unpin()) {
    cells.clear();
    for (int batch = 0; batch < 13 && more; ++batch) more = chain->ReadCells(&cells);
    for (const Cell& cell : cells)
      EXPECT_EQ(cell.value.substr(0, cell.value.find('.')), "v" + std::to_string(next--));
  }
  EXPECT_EQ(next, 0);
  EXPECT_EQ(reads_.size(), 200u);
}

TEST_F(LazyValuesTest, AFailureWithholdsTheBatchAndLasts) {
  const std::unique_ptr<CellCursor> chain = Chain(GcRule::None(), 8);
  EXPECT_EQ(ReadRow(chain.get()), std::vector<std::string>{"new9"});
  EXPECT_EQ(chain->status().code(), absl::StatusCode::kDataLoss);
  std::vector<Cell> cells;
  EXPECT_FALSE(chain->ReadCells(&cells));
  EXPECT_FALSE(chain->NextRow());
  EXPECT_FALSE(chain->SeekToEdge());
  EXPECT_TRUE(cells.empty());
}

}  // namespace
}  // namespace stele::internal
