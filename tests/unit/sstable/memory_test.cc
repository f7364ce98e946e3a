// Tests that a failed allocation is a transient error: at every allocation, the file stays valid
// and the next attempt succeeds.
#include <gtest/gtest.h>

#include "base/buffer.h"
#include "base/status.h"
#include "io/mem_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

class RefusedMemory : public testing::Test {
 protected:
  void SetUp() override {
    rows_ = RandomRows(
        11, {.row_count = 30, .family_count = 2, .cells_per_row = 4, .large_value_percent = 10});
    ASSERT_TRUE(WriteSstable(&file_system_, "table", rows_, OptionsForTest(2)).ok());
  }
  void TearDown() override { FailBufferAllocation(0); }

  MemFileSystem file_system_;
  std::vector<OwnedRow> rows_;
};

TEST_F(RefusedMemory, OpeningAndReading) {
  BlockCache cache(1 << 20);
  int failure_count = 0;
  for (int nth = 1;; ++nth) {
    FailBufferAllocation(nth);
    const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache);
    const auto rows = reader.ok() ? ReadWholeSstable(**reader)
                                  : absl::StatusOr<std::vector<OwnedRow>>(reader.status());
    FailBufferAllocation(0);
    if (rows.ok()) {
      EXPECT_EQ(*rows, rows_);
      break;  // no allocation failed in this round
    }
    ++failure_count;
    ASSERT_TRUE(absl::IsResourceExhausted(rows.status())) << rows.status();
    if (!reader.ok()) continue;
    const auto again = ReadWholeSstable(**reader);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(*again, rows_);
  }
  EXPECT_GT(failure_count, 10);
}

TEST_F(RefusedMemory, CursorGoesOnAfterIt) {
  const auto reader = OpenSstableFile(&file_system_, "table");
  ASSERT_TRUE(reader.ok());
  CursorOptions options;
  options.families = AllFamilies(2);
  const auto cursor = (*reader)->NewCursor(options);
  FailBufferAllocation(1);
  EXPECT_FALSE(cursor->SeekToEdge());
  EXPECT_TRUE(absl::IsResourceExhausted(cursor->status())) << cursor->status();
  ASSERT_TRUE(cursor->SeekToEdge());
  EXPECT_EQ(ReadRows(cursor.get()), rows_);
}

TEST_F(RefusedMemory, Building) {
  FailBufferAllocation(1);
  const auto summary = WriteSstable(&file_system_, "refused", rows_, OptionsForTest(2));
  EXPECT_TRUE(absl::IsResourceExhausted(summary.status())) << summary.status();
}

// Reading a value of many blocks takes memory for its size. Its compressed and its uncompressed
// blocks are read correctly.
TEST_F(RefusedMemory, HundredMebibytes) {
  Random random(1);
  std::string value(100 << 20, 'z');
  for (size_t i = 0; i < value.size() / 2; i += 8) StoreFixed64(value.data() + i, random.Next());
  const std::vector<OwnedRow> rows = {
      {"row", {{1, CellKind::kSet, 1, 0, "q", value}, {1, CellKind::kSet, 0, 0, "q", "small"}}}};
  const auto summary = WriteSstable(&file_system_, "huge", rows, OptionsForTest(1));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_LT(summary->file_bytes, 60u << 20);
  const auto reader = OpenSstableFile(&file_system_, "huge", &*summary);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto read = ReadWholeSstable(**reader);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == rows);
}

}  // namespace
}  // namespace stele::internal
