// Tests that memory held by an SSTable's readers is charged to the budget, and that the cache gets
// the remaining memory.
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <thread>

#include "base/buffer.h"
#include "base/memory_tracker.h"
#include "io/mem_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

using Use = MemoryTracker::Use;

class BudgetTest : public testing::Test {
 protected:
  void Write(const RowShape& shape) {
    rows_ = RandomRows(3, shape);
    ASSERT_TRUE(WriteSstable(&file_system_, "table", rows_, OptionsForTest(2)).ok());
  }
  std::unique_ptr<CellCursor> NewCursor(const SstableReader& reader) {
    CursorOptions options;
    options.families = AllFamilies(2);
    return reader.NewCursor(options);
  }

  MemFileSystem file_system_;
  std::vector<OwnedRow> rows_;
};

TEST_F(BudgetTest, TheCacheLeavesRoomForWhatNobodyCharges) {
  Write({.row_count = 3000, .family_count = 2, .value_bytes = 100});
  MemoryTracker tracker(2 << 20, 1 << 20);
  BlockCache cache(2 << 20, &tracker, 64 << 10);
  const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(ReadWholeSstable(**reader)->size(), rows_.size());
  EXPECT_GT(cache.bytes(), 450u << 10);
  EXPECT_LE(tracker.bytes_in_all(), 1u << 20);
  tracker.Charge(Use::kMemtables, 400 << 10);
  EXPECT_LE(tracker.bytes_in_all(), 1u << 20);
  EXPECT_GT(cache.bytes(), 200u << 10);
}

TEST_F(BudgetTest, TheCacheHasWhatTheOthersLeave) {
  Write({.row_count = 3000, .family_count = 2, .value_bytes = 100});
  MemoryTracker tracker(1 << 20);
  BlockCache cache(1 << 20, &tracker, 64 << 10);
  {
    const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(tracker.bytes(Use::kFiles), (*reader)->resident_bytes());
    ASSERT_EQ(ReadWholeSstable(**reader)->size(), rows_.size());
    EXPECT_GT(cache.bytes(), 450u << 10);
    EXPECT_LE(cache.bytes(), tracker.bytes(Use::kBlocks))
        << "groups are charged with all that they hold";
    EXPECT_LE(tracker.bytes_in_all(), tracker.budget_bytes());
    tracker.Charge(Use::kMemtables, 400 << 10);
    EXPECT_LE(tracker.bytes_in_all(), tracker.budget_bytes());
    EXPECT_GT(cache.bytes(), 200u << 10);
    // The cache keeps its minimum share, however much other uses take.
    tracker.Charge(Use::kMemtables, 5 << 20);
    EXPECT_GT(cache.bytes(), 50u << 10);
    EXPECT_LE(cache.bytes(), 64u << 10);
    EXPECT_TRUE(tracker.is_over());
    tracker.Discharge(Use::kMemtables, (5 << 20) + (400 << 10));
    ASSERT_EQ(ReadWholeSstable(**reader)->size(), rows_.size());
    EXPECT_GT(cache.bytes(), 450u << 10) << "it grows again";
  }
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(tracker.bytes_in_all(), 0u);
}

class ChargedBlock final : public CachedBlock {
 public:
  static constexpr size_t kBytes = 8 << 10;
  explicit ChargedBlock(MemoryTracker* tracker, std::function<void()> on_gone = nullptr)
      : charge_(tracker, Use::kBlocks, kBytes), on_gone_(std::move(on_gone)) {}
  ~ChargedBlock() override {
    if (on_gone_) on_gone_();
  }
  size_t memory_bytes() const override { return kBytes; }

 private:
  MemoryCharge charge_;
  const std::function<void()> on_gone_;
};

// Regression: only one thread at a time evicted from the cache. While it waited for a CPU, the
// charges of other threads exceeded the budget.
TEST_F(BudgetTest, AThreadThatGivesWaySlowlyKeepsNobodyElseFromIt) {
  constexpr uint64_t kOwnBytes = 100 << 10;
  MemoryTracker tracker(1 << 20);
  BlockCache cache(1 << 20, &tracker);
  std::latch is_giving_way(1);
  std::latch may_go_on(1);
  const auto wait = [&] {
    is_giving_way.count_down();
    may_go_on.wait();
  };
  for (uint64_t i = 0; i < 120; ++i) {
    cache.Insert(1, i,
                 i == 0 ? std::make_shared<ChargedBlock>(&tracker, wait)
                        : std::make_shared<ChargedBlock>(&tracker));
  }
  ASSERT_LE(tracker.bytes_in_all(), tracker.budget_bytes());
  std::thread slow([&] { tracker.Charge(Use::kJobs, kOwnBytes); });
  is_giving_way.wait();
  tracker.Charge(Use::kMemtables, 400 << 10);
  EXPECT_LE(tracker.bytes_in_all(), tracker.budget_bytes() + kOwnBytes)
      << "what the other thread has in hand";
  may_go_on.count_down();
  slow.join();
  EXPECT_LE(tracker.bytes_in_all(), tracker.budget_bytes());
  tracker.Discharge(Use::kMemtables, 400 << 10);
  tracker.Discharge(Use::kJobs, kOwnBytes);
}

TEST_F(BudgetTest, WhatACursorPinsIsChargedUntilItGoes) {
  Write({.row_count = 100, .family_count = 2, .large_value_percent = 30});
  MemoryTracker tracker(1 << 30);
  BlockCache cache(0, &tracker);  // keeps nothing
  const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
  ASSERT_TRUE(reader.ok());
  const uint64_t before = tracker.bytes_in_all();
  {
    const auto cursor = NewCursor(**reader);
    std::vector<Cell> cells;
    size_t large_bytes = 0;
    bool more = cursor->SeekToEdge();
    for (; more && large_bytes == 0; more = cursor->NextRow()) {
      while (cursor->ReadCells(&cells)) {
      }
      for (const Cell& cell : cells)
        large_bytes +=
            cell.value.size() >= (8 << 10) ? Buffer::MemoryBytesFor(cell.value.size()) : 0;
      if (large_bytes > 0) break;
      cells.clear();
    }
    ASSERT_GT(large_bytes, 0u);
    EXPECT_GT(tracker.bytes(Use::kBlocks), large_bytes);
    const uint64_t pinned = tracker.bytes(Use::kBlocks);
    cursor->Unpin();
    EXPECT_EQ(tracker.bytes(Use::kBlocks), pinned - large_bytes);
    EXPECT_GT(tracker.bytes(Use::kBlocks), 0u)
        << "the group it stands on, and what was read of the file";
  }
  EXPECT_EQ(tracker.bytes_in_all(), before);
}

// Pages in repeated use stay in the cache during a scan that is larger than the cache.
TEST_F(BudgetTest, AScanLeavesWhatIsUsedAgain) {
  Write({.row_count = 6000, .family_count = 2, .value_bytes = 200});
  MemoryTracker tracker(2 << 20);
  BlockCache cache(1792 << 10, &tracker, 128 << 10);
  const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
  ASSERT_TRUE(reader.ok());
  const auto touch_few = [&] {
    const uint64_t misses = cache.misses();
    for (size_t i = 0; i < 20; ++i) {
      const auto cursor = NewCursor(**reader);
      EXPECT_TRUE(cursor->SeekRow(rows_[i * 300].row_key));
    }
    return cache.misses() - misses;
  };
  touch_few();
  EXPECT_EQ(touch_few(), 0u);
  ASSERT_EQ(ReadWholeSstable(**reader)->size(), rows_.size());
  EXPECT_LE(touch_few(), 2u) << "the scan drove out what was used twice";
}

TEST_F(BudgetTest, ALazyValueIsReadAndChargedWhenItIsAskedFor) {
  Write({.row_count = 60, .family_count = 2, .large_value_percent = 30});
  MemoryTracker tracker(1 << 30);
  BlockCache cache(0, &tracker);
  const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
  ASSERT_TRUE(reader.ok());
  CursorOptions options;
  options.families = AllFamilies(2);
  options.defers_values = true;
  const auto cursor = (*reader)->NewCursor(options);
  size_t lazy_count = 0;
  std::vector<Cell> cells;
  bool more = cursor->SeekToEdge();
  for (const OwnedRow& row : rows_) {
    ASSERT_TRUE(more);
    ASSERT_EQ(cursor->row_key(), row.row_key);
    std::vector<OwnedCell> found;
    while (cursor->ReadCells(&cells)) {
      for (Cell& cell : cells) {
        if (cell.is_lazy) {
          ++lazy_count;
          const uint64_t before = tracker.bytes(Use::kBlocks);
          ASSERT_EQ(cell.ReadLazyValue(), absl::OkStatus());
          EXPECT_GE(tracker.bytes(Use::kBlocks), before + cell.value.size());
        }
        found.push_back(OwnedCell::Copy(cell));
      }
      cells.clear();
    }
    EXPECT_EQ(found, row.cells);
    more = cursor->NextRow();
  }
  EXPECT_FALSE(more);
  EXPECT_EQ(cursor->status(), absl::OkStatus());
  EXPECT_GT(lazy_count, 20u);
}

}  // namespace
}  // namespace stele::internal
