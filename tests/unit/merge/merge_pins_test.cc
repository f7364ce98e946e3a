// Tests how much the sources pin while one row of many cells is merged. A user may unpin after
// every batch or after many.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {
namespace {

constexpr uint32_t kCells = 60'000;
constexpr uint32_t kSources = 5;
constexpr size_t kSourceBatch = 100;

struct Pins {
  uint32_t batches = 0;  // since the last Unpin
  uint32_t batches_max = 0;
};

class WatchedCursor final : public CellCursor {
 public:
  WatchedCursor(std::unique_ptr<CellCursor> input, Pins* pins)
      : input_(std::move(input)), pins_(*pins) {}

  bool SeekToEdge() override { return input_->SeekToEdge(); }
  bool SeekRow(std::string_view bound) override { return input_->SeekRow(bound); }
  bool NextRow() override { return input_->NextRow(); }
  std::string_view row_key() const override { return input_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override {
    pins_.batches_max = std::max(pins_.batches_max, ++pins_.batches);
    return input_->ReadCells(cells);
  }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    input_->SkipTo(family, qualifier);
  }
  void Unpin() override {
    pins_.batches = 0;
    input_->Unpin();
  }
  absl::Status status() const override { return input_->status(); }

 private:
  const std::unique_ptr<CellCursor> input_;
  Pins& pins_;
};

std::string Qualifier(uint32_t cell) { return fmt::format("{:08}", cell); }

class MergePinsTest : public ::testing::Test {
 protected:
  // The cells alternate between the sources, so that no source is at the end of a batch when
  // another is.
  std::unique_ptr<CellCursor> Merge() {
    std::vector<std::unique_ptr<CellCursor>> sources;
    for (uint32_t source = 0; source < kSources; ++source) {
      OwnedRow row{.row_key = "row", .cells = {}};
      for (uint32_t cell = source; cell < kCells; cell += kSources) {
        row.cells.push_back({.family = 1,
                             .timestamp = int64_t{kCells} - cell,
                             .qualifier = Qualifier(cell),
                             .value = "value"});
      }
      sources.push_back(std::make_unique<WatchedCursor>(
          NewVectorCursor({std::move(row)}, {.batch_cells = kSourceBatch + source}),
          &pins_[source]));
    }
    return NewMergeCursor(std::move(sources), Direction::kForward);
  }
  // Reads the whole row and unpins after every `batches_a_piece` batches.
  void Read(CellCursor* cursor, size_t batches_a_piece) {
    ASSERT_TRUE(cursor->SeekToEdge());
    uint32_t next = 0;
    std::vector<Cell> cells;
    for (bool more = true; more; cursor->Unpin()) {
      cells.clear();
      for (size_t batch = 0; batch < batches_a_piece && more; ++batch)
        more = cursor->ReadCells(&cells);
      for (const Cell& cell : cells) {
        ASSERT_EQ(cell.qualifier, Qualifier(next));
        ASSERT_EQ(cell.value, "value");
        ++next;
      }
    }
    EXPECT_EQ(next, kCells);
  }
  uint32_t BatchesMax() const {
    return std::max_element(
               pins_, pins_ + kSources,
               [](const Pins& a, const Pins& b) { return a.batches_max < b.batches_max; })
        ->batches_max;
  }

  Pins pins_[kSources];
};

TEST_F(MergePinsTest, AUserThatLetsGoOfEveryBatchPinsTwoOfEachSource) {
  Read(Merge().get(), 1);
  EXPECT_LE(BatchesMax(), 2u);
}

// Regression: only a source without remaining cells unpinned. That was rare, so a giant row read in
// parts was pinned as a whole.
TEST_F(MergePinsTest, AUserThatLetsGoSeldomPinsAPieceAndLittleMore) {
  constexpr size_t kBatchesAPiece = 20;
  Read(Merge().get(), kBatchesAPiece);
  constexpr size_t kOfOneSource = kBatchesAPiece * kCellBatch / kSources / kSourceBatch;
  EXPECT_LE(BatchesMax(), kOfOneSource + 6);
}

// All but the first cells of a row are garbage. The merge must unpin their memory repeatedly,
// although a user still has the first cells.
TEST_F(MergePinsTest, GarbageCellsGiveTheOccasionToLetGo) {
  const std::vector<Retention> rules = {Retention(GcRule::MaxAge(std::chrono::microseconds(10)))};
  const std::unique_ptr<CellCursor> cursor = NewRetentionCursor(
      Merge(), {.rules = rules, .now = int64_t{kCells} + 1, .drop_tombstones = true});
  ASSERT_TRUE(cursor->SeekToEdge());
  std::vector<Cell> cells;
  ASSERT_TRUE(cursor->ReadCells(&cells));
  const size_t found = cells.size();
  EXPECT_EQ(found, 10u);
  size_t occasions = 0;
  for (; cursor->ReadCells(&cells); ++occasions) cursor->Unpin();
  EXPECT_EQ(cells.size(), found);
  EXPECT_GT(occasions, 0u);
  EXPECT_LE(BatchesMax(), 16u);
}

}  // namespace
}  // namespace stele::internal
