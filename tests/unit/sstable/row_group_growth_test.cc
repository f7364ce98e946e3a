// Tests that a cached row group grows in place by the blocks its readers want: once for all
// readers, and charged as it grows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_tracker.h"
#include "base/random.h"
#include "io/mem_file_system.h"
#include "support/io_observed_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

class RowGroupGrowthTest : public testing::Test {
 protected:
  // Makes one row group of many blocks: two families, each with its own blocks divided by rows.
  void SetUp() override {
    Random random(5);
    for (int i = 0; i < kRows; ++i) {
      std::string value(200, '\0');
      for (char& c : value) c = static_cast<char>(random.Next());
      rows_.push_back({fmt::format("row{:03}", i),
                       {{1, CellKind::kSet, 1, 0, "q", value},
                        {2, CellKind::kSet, 1, 0, "q", value},
                        {2, CellKind::kSet, 1, 0, "r", "v"}}});
    }
    ASSERT_TRUE(
        WriteSstable(&file_system_, "table", rows_, OptionsForTest(2, Codec::kLz4, 64 << 10)).ok());
    auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  // Checks the row, and returns the bytes decoded for it.
  uint64_t Read(size_t row, bool fill_cache = true) {
    CursorStats stats;
    CursorOptions options{.families = AllFamilies(2), .fill_cache = fill_cache, .stats = &stats};
    const auto cursor = reader_->NewCursor(options);
    EXPECT_TRUE(cursor->SeekRow(rows_[row].row_key)) << cursor->status();
    EXPECT_EQ(ReadPinnedRow(cursor.get()), rows_[row].cells);
    return stats.bytes_decoded;
  }

  static constexpr int kRows = 100;
  MemFileSystem memory_;
  std::function<void()> between_;  // called once, after a read of the file
  ObservedFileSystem file_system_{&memory_, [this](CallKind kind, const std::string&) {
                                    if (kind == CallKind::kRead && between_ != nullptr)
                                      std::exchange(between_, nullptr)();
                                  }};
  MemoryTracker tracker_{16 << 20};
  BlockCache cache_{1 << 20, &tracker_, 64 << 10};
  std::vector<OwnedRow> rows_;
  std::shared_ptr<SstableReader> reader_;
};

TEST_F(RowGroupGrowthTest, EachBlockIsDecodedOnceAndCountedOnce) {
  uint64_t decoded_bytes = 0;
  for (size_t row = 0; row < kRows; ++row) {
    const size_t before = cache_.bytes();
    const uint64_t bytes = Read(row);
    EXPECT_EQ(cache_.bytes() > before, bytes > 0) << "row " << row;
    decoded_bytes += bytes;
    EXPECT_EQ(Read(row), 0u) << "row " << row;
  }
  EXPECT_GT(decoded_bytes, kRows * 400u);
  EXPECT_LT(decoded_bytes, kRows * 450u);
  EXPECT_GE(cache_.bytes(), decoded_bytes);
  EXPECT_LT(cache_.bytes(), decoded_bytes * 5 / 4);
  EXPECT_EQ(ReadWholeSstable(*reader_).value(), rows_);
  EXPECT_EQ(Read(kRows / 2), 0u);
}

TEST_F(RowGroupGrowthTest, WhoMayNotFillTheCacheLeavesItAsItIs) {
  Read(0);
  const size_t cached_bytes = cache_.bytes();
  const uint64_t charged_bytes = tracker_.bytes(MemoryTracker::Use::kBlocks);
  const uint64_t far = Read(kRows - 1, /*fill_cache=*/false);
  EXPECT_GT(far, 0u);
  EXPECT_EQ(Read(kRows - 1, /*fill_cache=*/false), far) << "nobody kept it";
  EXPECT_EQ(Read(0, /*fill_cache=*/false), 0u);
  CursorOptions options{.families = AllFamilies(2), .fill_cache = false};
  {
    // A scan continues from the row that was found, whose bytes stay in place.
    const auto cursor = reader_->NewCursor(options);
    ASSERT_TRUE(cursor->SeekRow(rows_[50].row_key));
    EXPECT_EQ(ReadRows(cursor.get()), std::vector<OwnedRow>(rows_.begin() + 50, rows_.end()));
  }
  EXPECT_EQ(cache_.bytes(), cached_bytes);
  EXPECT_EQ(tracker_.bytes(MemoryTracker::Use::kBlocks), charged_bytes);
  EXPECT_EQ(Read(kRows - 1), far) << "nor is it in the cache";
}

TEST_F(RowGroupGrowthTest, AGroupThatOutgrowsItsShardGoesAndItsReadersKeepIt) {
  BlockCache small(20'000);
  reader_ = OpenSstableFile(&file_system_, "table", nullptr, &small).value();
  const auto cursor = reader_->NewCursor({.families = AllFamilies(2)});
  ASSERT_TRUE(cursor->SeekRow(rows_[0].row_key));
  EXPECT_GT(small.bytes(), 0u);
  for (size_t row = 0; row < kRows; ++row) {
    Read(row);
    EXPECT_LE(small.bytes(), small.capacity_bytes());
  }
  EXPECT_EQ(ReadPinnedRow(cursor.get()), rows_[0].cells);
  reader_.reset();
}

// While a reader waits for bytes of the file, another reader decodes the same blocks.
TEST_F(RowGroupGrowthTest, WhatTwoDecodedIsKeptOnce) {
  Read(0);
  const uint64_t charged_bytes = tracker_.bytes(MemoryTracker::Use::kBlocks);
  const size_t cached_bytes = cache_.bytes();
  uint64_t other_bytes = 0;
  between_ = [&] { other_bytes = Read(kRows - 1); };
  const uint64_t bytes = Read(kRows - 1);
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(other_bytes, bytes);
  EXPECT_LT(tracker_.bytes(MemoryTracker::Use::kBlocks) - charged_bytes, bytes * 2);
  EXPECT_LT(cache_.bytes() - cached_bytes, bytes * 2);
}

TEST_F(RowGroupGrowthTest, ReadersAddToAGroupSideBySide) {
  for (int round = 0; round < 20; ++round) {
    reader_ = OpenSstableFile(&memory_, "table", nullptr, &cache_).value();
    std::vector<std::thread> threads;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      threads.emplace_back([this, seed] {
        Random random(seed);
        for (int i = 0; i < 30; ++i) Read(random.Below(kRows), !random.OneIn(4));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t row = 0; row < kRows; ++row) Read(row);
  }
}

}  // namespace
}  // namespace stele::internal
