// Tests that damage of any byte is detected, named and contained: never a wrong cell, never a
// crash.
#include <gtest/gtest.h>

#include <regex>

#include "base/checksum.h"
#include "base/status.h"
#include "io/mem_file_system.h"
#include "sstable/format/sstable_format.h"
#include "sstable/inspect/sstable_dump.h"
#include "sstable/inspect/sstable_verify.h"
#include "support/base_sanitized.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

class Damaged : public testing::Test {
 protected:
  void SetUp() override {
    RowShape shape{.row_count = 40, .family_count = 3, .cells_per_row = 5, .value_bytes = 30};
    rows_ = RandomRows(3, shape);
    // Highly compressible.
    rows_[20].cells.push_back({1, CellKind::kSet, 5, 0, "big", std::string(70'000, 'x')});
    SortCells(&rows_[20].cells);
    for (int i = 0; i < 100; ++i)
      rows_[30].cells.push_back({2, CellKind::kSet, i, 0, "history", fmt::format("v{}", i)});
    SortCells(&rows_[30].cells);
    options_ = OptionsForTest(3);
    options_.row_group_bytes = 600;
    bytes_ = Write("good", options_, &summary_);
    ASSERT_GT(bytes_.size(), 3000u);
    ASSERT_LT(bytes_.size(), 32'000u);
  }

  std::string Write(const std::string& path, const SstableBuilderOptions& options,
                    SstableSummary* summary) {
    auto written = WriteSstable(&file_system_, path, rows_, options);
    EXPECT_TRUE(written.ok()) << written.status();
    if (summary != nullptr) *summary = *written;
    return *ReadBytes(&file_system_, path);
  }

  // Opens and reads `bytes`. The result is an error that names the file, or exactly the rows. With
  // `expect_found`, it must be the error.
  void ExpectNeverWrong(const std::string& bytes, bool expect_found, const std::string& what,
                        bool is_expected_known = true) {
    ASSERT_TRUE(WriteBytes(&file_system_, "damaged", bytes).ok());
    const auto reader =
        OpenSstableFile(&file_system_, "damaged", is_expected_known ? &summary_ : nullptr);
    ASSERT_TRUE(file_system_.Remove("damaged").ok());
    absl::Status status = reader.status();
    if (reader.ok()) {
      const auto rows = ReadWholeSstable(**reader);
      status = rows.status();
      if (rows.ok()) {
        ASSERT_EQ(*rows, rows_) << what;
      }
      size_t damage_count = 0;
      const absl::Status verified =
          VerifySstable(**reader, [&](const SstableDamage&) { ++damage_count; });
      ASSERT_TRUE(verified.ok()) << what << ": " << verified;
      ASSERT_EQ(damage_count == 0, status.ok()) << what << ": verify and read disagree";
    }
    if (status.ok()) {
      ASSERT_FALSE(expect_found) << what << ": not found";
      return;
    }
    ASSERT_TRUE(absl::IsDataLoss(status) || absl::IsUnimplemented(status))
        << what << ": " << status;
    ASSERT_NE(ToStd(status.message()).find("000007.sst"), std::string_view::npos) << status;
  }

  MemFileSystem file_system_;
  std::vector<OwnedRow> rows_;
  SstableBuilderOptions options_;
  SstableSummary summary_;
  std::string bytes_;
};

constexpr size_t kStride = kReduced ? 13 : 1;  // in bytes; odd

// Files so small that every bit can be flipped. Together they have every part that a file can have.
struct SmallFile {
  const char* name;
  Codec codec;
  std::vector<OwnedRow> rows;
  uint32_t row_group_bytes;
  std::vector<const char*> parts;  // regexes that match its dump
};

std::vector<SmallFile> SmallFiles() {
  const RowShape shape{.row_count = 12, .family_count = 3, .cells_per_row = 4, .value_bytes = 12};
  std::vector<OwnedRow> large = RowsOfSections();
  // Highly compressible.
  large[5].cells.push_back({3, CellKind::kSet, 5, 0, "x", std::string(70'000, 'x')});
  return {{"raw", Codec::kNone, RandomRows(4, shape), 200, {"tombstones [1-9]"}},
          {"with sections",
           Codec::kLz4,
           std::move(large),
           200,
           {"section 1 families 1 ", "section 2 history families 2 "}},
          {"with a dictionary", Codec::kZstd, RowsAlike(), 64, {"dictionary [1-9]"}}};
}

TEST_F(Damaged, EveryBitOfEveryByte) {
  for (const SmallFile& file : SmallFiles()) {
    SCOPED_TRACE(file.name);
    rows_ = file.rows;
    options_ = OptionsForTest(3, file.codec, file.row_group_bytes);
    bytes_ = Write(file.name, options_, &summary_);
    const std::string dump =
        *DumpSstable(**OpenSstableFile(&file_system_, file.name), /*cells=*/false);
    for (const char* part : file.parts)
      ASSERT_TRUE(std::regex_search(dump, std::regex(part))) << part << " in\n" << dump;
    for (size_t at = 0; at < bytes_.size(); at += kStride) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bytes = bytes_;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        ASSERT_NO_FATAL_FAILURE(
            ExpectNeverWrong(bytes, true, fmt::format("bit {} of byte {}", bit, at), at % 2 == 0));
      }
    }
  }
}

TEST_F(Damaged, EveryTruncation) {
  for (size_t length = 0; length < bytes_.size(); length += kStride) {
    ASSERT_NO_FATAL_FAILURE(ExpectNeverWrong(bytes_.substr(0, length), true,
                                             fmt::format("cut at {}", length), length % 2 == 0));
  }
}

TEST_F(Damaged, BytesTooMany) {
  ExpectNeverWrong(bytes_ + '\0', true, "a byte more");
  ExpectNeverWrong(bytes_ + bytes_.substr(bytes_.size() - kSstableTailBytes), true,
                   "the tail twice");
}

TEST_F(Damaged, EverySectorZeroedOrSet) {
  for (size_t at = 0; at < bytes_.size(); at += 512) {
    for (const char fill : {'\0', '\xff'}) {
      std::string bytes = bytes_;
      for (size_t i = at; i < std::min(at + 512, bytes.size()); ++i) bytes[i] = fill;
      ASSERT_NO_FATAL_FAILURE(ExpectNeverWrong(bytes, true, fmt::format("sector at {}", at)));
    }
  }
}

// Exchanges two ranges of the file. Some of them are at the offsets and have the lengths of its own
// blocks.
TEST_F(Damaged, SwappedByteRanges) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const size_t length = 16 + random.Below(400);
    const size_t a = random.Below(bytes_.size() - 2 * length);
    const size_t b = a + length + random.Below(bytes_.size() - a - 2 * length + 1);
    std::string bytes = bytes_;
    bytes.replace(a, length, bytes_, b, length);
    bytes.replace(b, length, bytes_, a, length);
    ASSERT_NO_FATAL_FAILURE(ExpectNeverWrong(bytes, bytes != bytes_,
                                             fmt::format("{} bytes at {} and {}", length, a, b)));
  }
}

TEST_F(Damaged, BlocksOfAnotherFileDoNotPass) {
  SstableBuilderOptions other = options_;
  other.file_id ^= 1;
  const std::string other_bytes = Write("other", other, nullptr);
  ASSERT_EQ(other_bytes.size(), bytes_.size());
  ASSERT_NE(other_bytes, bytes_);
  ExpectNeverWrong(other_bytes, true, "the whole file");
  // The same content at the same offset: only the seed differs. The data blocks are the same bytes
  // in both files, so the references to them decide.
  const size_t data_end = summary_.index_offset;
  const std::string mixed = bytes_.substr(0, data_end) + other_bytes.substr(data_end);
  ExpectNeverWrong(mixed, true, "this file's blocks under the other's index");
}

TEST_F(Damaged, SummaryOfAnotherFileDoesNotPass) {
  SstableSummary expected = summary_;
  ++expected.cells;
  const auto reader = OpenSstableFile(&file_system_, "good", &expected);
  ASSERT_FALSE(reader.ok());
  EXPECT_TRUE(absl::IsDataLoss(reader.status())) << reader.status();
}

TEST_F(Damaged, AnotherFormatIsRefusedWithBothVersions) {
  std::string bytes = bytes_;
  char* tail = bytes.data() + bytes.size() - kSstableTailBytes;
  StoreFixed32(tail + 44, kSstableFormatVersion + 7);
  StoreFixed64(tail + 48, Checksum64({tail, 48}, kSstableMagic));
  ASSERT_TRUE(WriteBytes(&file_system_, "newer", bytes).ok());
  const absl::Status status = OpenSstableFile(&file_system_, "newer").status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_NE(ToStd(status.message()).find("format 8; this build knows 1"), std::string_view::npos)
      << status;
}

// One row group is damaged. Cursors fail there and nowhere else. Verify names it and its families.
TEST_F(Damaged, OtherRowGroupsStayReadable) {
  const auto good = OpenSstableFile(&file_system_, "good");
  ASSERT_TRUE(good.ok());
  std::string bytes = bytes_;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  ASSERT_TRUE(WriteBytes(&file_system_, "damaged", bytes).ok());
  const auto reader = OpenSstableFile(&file_system_, "damaged", &summary_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::vector<SstableDamage> damages;
  ASSERT_TRUE(VerifySstable(**reader, [&](const SstableDamage& damage) {
                damages.push_back(damage);
              }).ok());
  ASSERT_EQ(damages.size(), 1u);
  CursorOptions options;
  options.families = AllFamilies(3);
  const auto cursor = (*reader)->NewCursor(options);
  size_t lost_count = 0;
  for (const OwnedRow& row : rows_) {
    const bool found = cursor->SeekRow(row.row_key);
    const auto cells = found ? ReadPinnedRow(cursor.get()) : std::vector<OwnedCell>();
    if (found && cursor->status().ok()) {
      EXPECT_EQ(cells, row.cells);
    } else {
      ++lost_count;
      EXPECT_TRUE(absl::IsDataLoss(cursor->status())) << cursor->status();
      EXPECT_GE(row.row_key, damages[0].first_row);
      EXPECT_LE(row.row_key, damages[0].last_row);
    }
  }
  EXPECT_GT(lost_count, 0u);
  EXPECT_LT(lost_count, rows_.size() / 4);
}

}  // namespace
}  // namespace stele::internal
