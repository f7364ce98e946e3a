// Tests which stored bytes SstableReader::Boundaries counts before a row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "io/mem_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

constexpr size_t kLargeBytes = 100'000;
constexpr size_t kSmallBytes = 1000;

std::string IncompressibleValue(Random& random, size_t bytes) {
  std::string value(bytes, '\0');
  for (char& c : value) c = static_cast<char>(random.Next());
  return value;
}

// Rows with a small value each. Those from `begin` to `end` also have a large value, in a family
// that gets a section of its own.
std::vector<OwnedRow> RowsWithLargeValues(size_t begin, size_t end) {
  Random random(begin);
  std::vector<OwnedRow> rows;
  for (size_t i = 0; i < 1000; ++i) {
    rows.push_back({fmt::format("row{:03}", i),
                    {{1, CellKind::kSet, 1, 0, "s", IncompressibleValue(random, kSmallBytes)}}});
    if (i < begin || i >= end) continue;
    rows.back().cells.push_back(
        {2, CellKind::kSet, 1, 0, "l", IncompressibleValue(random, kLargeBytes)});
  }
  return rows;
}

// The bytes of the values before the row.
uint64_t BytesBefore(const std::vector<OwnedRow>& rows, const std::string& row_key) {
  uint64_t bytes = 0;
  for (const OwnedRow& row : rows) {
    if (row.row_key >= row_key) break;
    for (const OwnedCell& cell : row.cells) bytes += cell.value.size();
  }
  return bytes;
}

// A tenth of the rows has nine tenths of the bytes, at the beginning, in the middle or at the end
// of the file.
TEST(BoundariesTest, LargeValuesCountForTheirRows) {
  for (const size_t begin : {0u, 450u, 900u}) {
    const std::vector<OwnedRow> rows = RowsWithLargeValues(begin, begin + 100);
    for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
      SCOPED_TRACE(fmt::format("from row {}, codec {}", begin, static_cast<int>(codec)));
      MemFileSystem file_system;
      ASSERT_TRUE(WriteSstable(&file_system, "table", rows, OptionsForTest(2, codec)).ok());
      const auto reader = OpenSstableFile(&file_system, "table");
      ASSERT_TRUE(reader.ok()) << reader.status();
      const std::vector<OwnedRow> read =
          ReadWholeSstable(**reader).value_or(std::vector<OwnedRow>());
      EXPECT_TRUE(read == rows);
      const auto total = static_cast<double>((*reader)->summary().file_bytes);
      double nearest = total;  // to the middle of the file
      for (const SstableReader::Boundary& boundary : (*reader)->Boundaries()) {
        const auto offset = static_cast<double>(boundary.offset_bytes);
        EXPECT_NEAR(offset, static_cast<double>(BytesBefore(rows, boundary.row_key)), 0.05 * total)
            << boundary.row_key;
        nearest = std::min(nearest, std::abs(offset - total / 2));
      }
      EXPECT_LT(nearest, 0.05 * total);
    }
  }
}

// Groups that are written before the dictionary exists are read without it.
TEST(BoundariesTest, ADictionaryIsTrainedAfterLargeValues) {
  std::vector<OwnedRow> rows;
  Random random(3);
  for (size_t i = 0; i < 3; ++i) {
    rows.push_back(
        {fmt::format("large{}", i),
         {{1, CellKind::kSet, 1, 0, "compressible", std::string(100, 'c')},
          {1, CellKind::kSet, 1, 0, "large", IncompressibleValue(random, kLargeBytes)}}});
  }
  std::vector<OwnedRow> alike = RowsAlike();
  for (OwnedRow& row : alike) rows.push_back(std::move(row));
  MemFileSystem file_system;
  ASSERT_TRUE(WriteSstable(&file_system, "table", rows, OptionsForTest(3, Codec::kZstd, 64)).ok());
  const auto reader = OpenSstableFile(&file_system, "table");
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_GT((*reader)->table().sections.front().reference->dictionary_bytes, 0u);
  EXPECT_TRUE(ReadWholeSstable(**reader).value_or(std::vector<OwnedRow>()) == rows);
}

}  // namespace
}  // namespace stele::internal
