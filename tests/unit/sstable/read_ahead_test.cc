// Tests how much of the file a cursor reads: never another section's extents, and never much more
// than twice the bytes it used.
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
  // A file of 3 MB. Family 1 is narrow and has its own section. Family 2 has a section for the
  // newest versions and one for the history.
  void SetUp() override {
    Random random(22);
    std::vector<OwnedRow> rows;
    for (int i = 0; i < kRows; ++i) {
      OwnedRow row{fmt::format("row{:05}", i), {{1, CellKind::kSet, 1, 0, "n", Noise(random, 20)}}};
      for (int version = 20; version > 0; --version)
        row.cells.push_back({2, CellKind::kSet, version, 0, "w", Noise(random, 100)});
      rows.push_back(std::move(row));
    }
    ASSERT_TRUE(
        WriteSstable(&file_system_, "table", rows, OptionsForTest(2, Codec::kLz4, 8 << 10)).ok());
    auto reader = OpenSstableFile(&file_system_, "table");
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  // Returns the bytes read for some rows from the 200th on, or from the end.
  uint64_t BytesRead(Direction direction, size_t row_count, FamilyMap families, bool latest_only) {
    CursorStats stats;
    const auto cursor = reader_->NewCursor({.direction = direction,
                                            .families = std::move(families),
                                            .latest_only = latest_only,
                                            .stats = &stats});
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
  static constexpr uint64_t kLatestBytes = 130;    // of a row in its section, with its key
  static constexpr uint64_t kGroupBytes = 10'000;  // at most
  MemFileSystem memory_;
  uint64_t reads_ = 0;
  ObservedFileSystem file_system_{
      &memory_, [this](CallKind kind, const std::string&) { reads_ += kind == CallKind::kRead; }};
  std::shared_ptr<SstableReader> reader_;
};

TEST_F(ReadAheadTest, TakesInNoOtherSection) {
  const FamilyMap all = AllFamilies(2);
  const FamilyMap narrow = {0, 1, kSkippedFamily};
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    EXPECT_LE(BytesRead(direction, 1000, narrow, false), 2 * 1000 * kNarrowBytes + 2 * kGroupBytes);
    EXPECT_LE(BytesRead(direction, 1000, all, true),
              2 * 1000 * (kNarrowBytes + kLatestBytes) + 4 * kGroupBytes);
  }
}

TEST_F(ReadAheadTest, GrowsWithWhatWasLookedAt) {
  const FamilyMap wide = {0, kSkippedFamily, 2};
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    for (const size_t row_count : {1, 2, 100, 400, 1000}) {
      EXPECT_LE(BytesRead(direction, row_count, wide, true),
                2 * row_count * kLatestBytes + 2 * kGroupBytes)
          << row_count;
    }
  }
}

// Blocks of large values are between extents too.
TEST_F(ReadAheadTest, TakesInNoLargeValues) {
  Random random(23);
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 1500; ++i) {
    OwnedRow row{fmt::format("row{:05}", i), {{1, CellKind::kSet, 1, 0, "n", Noise(random, 1000)}}};
    if (i % 100 == 50)
      row.cells.push_back({2, CellKind::kSet, 1, 0, "large", Noise(random, 100'000)});
    rows.push_back(std::move(row));
  }
  ASSERT_TRUE(
      WriteSstable(&file_system_, "large", rows, OptionsForTest(2, Codec::kLz4, 8 << 10)).ok());
  const auto reader = OpenSstableFile(&file_system_, "large");
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    CursorStats stats;
    const auto cursor = (*reader)->NewCursor(
        {.direction = direction, .families = {0, 1, kSkippedFamily}, .stats = &stats});
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

// A file with one byte that cannot be read.
class FileWithBadByte final : public File {
 public:
  FileWithBadByte(std::unique_ptr<File> below, const uint64_t* bad_offset)
      : below_(std::move(below)), bad_offset_(*bad_offset) {}

  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    if (bad_offset_ >= offset && bad_offset_ - offset < bytes)
      return absl::UnavailableError("read: input/output error");
    return below_->Read(offset, bytes, out);
  }
  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    return below_->Write(offset, bytes);
  }
  absl::Status Sync() override { return below_->Sync(); }
  absl::Status Truncate(uint64_t bytes) override { return below_->Truncate(bytes); }
  absl::Status Allocate(uint64_t bytes) override { return below_->Allocate(bytes); }
  absl::StatusOr<uint64_t> Size() const override { return below_->Size(); }
  const std::string& path() const override { return below_->path(); }

 private:
  const std::unique_ptr<File> below_;
  const uint64_t& bad_offset_;
};

class AtOnce final : public PrefetchRunner {
 public:
  bool Run(std::shared_ptr<PrefetchTask> task) override {
    task->Run();
    return true;
  }
  bool IsOfThisProcess() const override { return true; }
};

// Rows before the damage are returned, whatever the size of the readahead and whichever thread
// reads.
TEST(ReadAheadOfDamage, FailsOnlyWhereTheCursorComesToIt) {
  MemFileSystem file_system;
  constexpr int kRows = 3000;
  constexpr int kRowsOfGroup = 20;  // at most
  std::vector<OwnedRow> rows;
  Random random(24);
  for (int i = 0; i < kRows; ++i)
    rows.push_back(
        {fmt::format("row{:05}", i), {{1, CellKind::kSet, 1, 0, "q", Noise(random, 100)}}});
  ASSERT_TRUE(
      WriteSstable(&file_system, "table", rows, OptionsForTest(1, Codec::kLz4, 1 << 10)).ok());
  auto file = file_system.Open("table", OpenMode::kRead);
  ASSERT_TRUE(file.ok());
  uint64_t bad_offset = ~uint64_t{0};
  const auto reader = SstableReader::Open(
      std::make_unique<FileWithBadByte>(*std::move(file), &bad_offset), "table", nullptr, nullptr);
  ASSERT_TRUE(reader.ok()) << reader.status();
  bad_offset = 200'000;  // of about 360'000 bytes with rows
  const auto can_read = [&](int row) {
    const auto cursor = (*reader)->NewCursor({.families = AllFamilies(1)});
    std::vector<Cell> cells;
    return cursor->SeekRow(rows[static_cast<size_t>(row)].row_key) && cursor->ReadCells(&cells);
  };
  int first_bad = 0;
  while (first_bad < kRows && can_read(first_bad)) ++first_bad;
  int end_bad = kRows;
  while (end_bad > first_bad && can_read(end_bad - 1)) --end_bad;
  ASSERT_LT(first_bad, end_bad);
  EXPECT_LE(end_bad - first_bad, kRowsOfGroup);
  AtOnce at_once;
  for (PrefetchRunner* prefetch_runner :
       {static_cast<PrefetchRunner*>(nullptr), static_cast<PrefetchRunner*>(&at_once)}) {
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      const auto cursor = (*reader)->NewCursor(
          {.direction = direction, .families = AllFamilies(1), .prefetch_runner = prefetch_runner});
      ASSERT_TRUE(cursor->SeekToEdge());
      const auto row_count = static_cast<int>(ReadRows(cursor.get()).size());
      EXPECT_TRUE(absl::IsUnavailable(cursor->status())) << cursor->status();
      EXPECT_GE(row_count,
                (direction == Direction::kForward ? first_bad : kRows - end_bad) - kRowsOfGroup);
    }
  }
}

}  // namespace
}  // namespace stele::internal
