// How much of the file a cursor reads for what it looks at: never another section's extents, never much more than twice what it went by.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/mem_file_system.h"
#include "support/io_observed_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

std::string Noise(Random& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random.Next());
  return text;
}

class ReadAheadTest : public testing::Test {
 protected:
  // Of 3 MB: family 1 is narrow and has a section of its own, family 2 has one for the newest versions and one for history.
  void SetUp() override {
    Random random(22);
    std::vector<OwnedRow> rows;
    for (int i = 0; i < kRows; ++i) {
      OwnedRow row{fmt::format("row{:05}", i), {{1, CellKind::kSet, 1, 0, "n", Noise(random, 20)}}};
      for (int version = 20; version > 0; --version) row.cells.push_back({2, CellKind::kSet, version, 0, "w", Noise(random, 100)});
      rows.push_back(std::move(row));
    }
    ASSERT_TRUE(WriteSstable(&file_system_, "table", rows, OptionsForTest(2, Codec::kLz4, 8 << 10)).ok());
    auto reader = OpenSstableFile(&file_system_, "table");
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  // Bytes read for some rows from the 200th, or from the end.
  uint64_t BytesRead(Direction direction, size_t row_count, FamilyMap families, bool latest_only) {
    CursorStats stats;
    const auto cursor =
        reader_->NewCursor({.direction = direction, .families = std::move(families), .latest_only = latest_only, .stats = &stats});
    std::vector<Cell> cells;
    bool more = cursor->SeekRow(direction == Direction::kForward ? "row00200" : "row01300");
    for (size_t i = 0; more && i < row_count; ++i) {
      for (cells.clear(); cursor->ReadCells(&cells);) cells.clear();
      more = cursor->NextRow();
    }
    EXPECT_TRUE(more && cursor->status().ok()) << cursor->status();
    return stats.bytes_read;
  }

  static constexpr int kRows = 1500;
  static constexpr uint64_t kNarrowBytes = 50;     // of a row in its section, with its key
  static constexpr uint64_t kLatestBytes = 130;    // likewise
  static constexpr uint64_t kGroupBytes = 10'000;  // at most
  MemFileSystem memory_;
  uint64_t reads_ = 0;
  ObservedFileSystem file_system_{&memory_, [this](CallKind kind, const std::string&) { reads_ += kind == CallKind::kRead; }};
  std::shared_ptr<SstableReader> reader_;
};

TEST_F(ReadAheadTest, TakesInNoOtherSection) {
  const FamilyMap all = AllFamilies(2);
  const FamilyMap narrow = {0, 1, kSkippedFamily};
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    EXPECT_LE(BytesRead(direction, 1000, narrow, false), 2 * 1000 * kNarrowBytes + 2 * kGroupBytes);
    EXPECT_LE(BytesRead(direction, 1000, all, true), 2 * 1000 * (kNarrowBytes + kLatestBytes) + 4 * kGroupBytes);
  }
}

TEST_F(ReadAheadTest, GrowsWithWhatWasLookedAt) {
  const FamilyMap wide = {0, kSkippedFamily, 2};
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    for (const size_t row_count : {1, 2, 100, 400, 1000}) {
      EXPECT_LE(BytesRead(direction, row_count, wide, true), 2 * row_count * kLatestBytes + 2 * kGroupBytes) << row_count;
    }
  }
}

// Blocks of large values lie between extents too.
TEST_F(ReadAheadTest, TakesInNoLargeValues) {
  Random random(23);
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 1500; ++i) {
    OwnedRow row{fmt::format("row{:05}", i), {{1, CellKind::kSet, 1, 0, "n", Noise(random, 1000)}}};
    if (i % 100 == 50) row.cells.push_back({2, CellKind::kSet, 1, 0, "large", Noise(random, 100'000)});
    rows.push_back(std::move(row));
  }
  ASSERT_TRUE(WriteSstable(&file_system_, "large", rows, OptionsForTest(2, Codec::kLz4, 8 << 10)).ok());
  const auto reader = OpenSstableFile(&file_system_, "large");
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    CursorStats stats;
    const auto cursor = (*reader)->NewCursor({.direction = direction, .families = {0, 1, kSkippedFamily}, .stats = &stats});
    ASSERT_TRUE(cursor->SeekToEdge());
    EXPECT_EQ(ReadRows(cursor.get()).size(), rows.size());
    EXPECT_LE(stats.bytes_read, 1500u * 1100);
  }
}

// A scan in either direction reads many row groups at a time.
TEST_F(ReadAheadTest, FewReadsForAScan) {
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    reads_ = 0;
    const uint64_t bytes_read = BytesRead(direction, 1200, AllFamilies(2), false);
    EXPECT_LE(reads_, 16 + bytes_read / (100 << 10));
  }
}

}  // namespace
}  // namespace stele::internal
