// Tests golden files: their cells, their dump and, for uncompressed files, every byte that a
// builder writes for the same rows.
//
// STELE_REWRITE=1 writes the files and the fuzz corpus again. Use it only with a new format
// version, or before 0.1.0.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/status.h"
#include "io/mem_file_system.h"
#include "sstable/inspect/sstable_dump.h"
#include "sstable/inspect/sstable_verify.h"
#include "support/base_test_data.h"
#include "support/cell_naive_fold.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

struct Golden {
  const char* name;
  Codec codec;
  std::vector<OwnedRow> rows;
  uint32_t row_group_bytes = 200;
  const char* part = "section 0 ";  // part of its dump
};

std::vector<std::string> Items(int count) {
  std::vector<std::string> items;
  for (int i = 0; i < count; ++i) items.push_back(fmt::format("item {}", i));
  return items;
}

std::vector<Golden> Goldens() {
  std::vector<OwnedRow> small = {
      {"apple",
       {{1, CellKind::kSet, 1000, 0, "", "no qualifier"}, {2, CellKind::kSet, 2000, 0, "q", ""}}},
      {"banana",
       {{0, CellKind::kDeleteRow, 0, 0, "", ""}, {2, CellKind::kSet, -5, 0, "q", "after"}}},
      {std::string("cherry\0pie", 10),
       {{1, CellKind::kDeleteFamily, 0, 0, "", ""},
        {1, CellKind::kDeleteRange, 900, 100, "a", ""},
        {1, CellKind::kSet, 900, 0, "a", "kept"},
        {3, CellKind::kSet, INT64_MAX, 0, "z", "\xff\x01"}}},
  };
  std::vector<OwnedRow> wide = {{"before", {{1, CellKind::kSet, 1, 0, "q", "v"}}},
                                {"giant", {}},
                                {"next", {{3, CellKind::kSet, 1, 0, "q", "v"}}}};
  for (int i = 0; i < 60; ++i)
    wide[1].cells.push_back(
        {1, CellKind::kSet, 1, 0, fmt::format("column{:03}", i), fmt::format("value {}", i)});
  for (int i = 60; i > 0; --i)
    wide[1].cells.push_back(
        {2, CellKind::kSet, i * 1000, 0, "history", fmt::format("version {}", i)});
  std::vector<OwnedRow> large = small;
  large.push_back({"large", {{1, CellKind::kSet, 7, 0, "value", std::string(200'000, 'L')}}});
  const std::vector<OwnedRow> deltas = {
      {"counters",
       {{1, CellKind::kDeleteRange, 3000, 1000, "sum", ""},
        {1, CellKind::kSum, 2000, 0, "sum", NaiveNumber(-7)},
        {1, CellKind::kSum, 1000, 0, "sum", NaiveNumber(INT64_MAX)},
        {2, CellKind::kMin, 0, 0, "", NaiveNumber(INT64_MIN)},
        {3, CellKind::kMax, 5, 0, "max", NaiveNumber(41)}}},
      {"sketches",
       {{1, CellKind::kHll, 0, 0, "few", NaiveSketch({"one", "two"})},
        {1, CellKind::kHll, 0, 0, "many", NaiveSketch(Items(3000))}}}};
  return {{"small_raw", Codec::kNone, small},
          {"deltas_raw", Codec::kNone, deltas},
          {"wide_raw", Codec::kNone, wide},
          {"wide_lz4", Codec::kLz4, wide},
          {"large_zstd", Codec::kZstd, large},
          {"sections_raw", Codec::kNone, RowsOfSections(), 200, "section 2 history families 2 "},
          {"sections_lz4", Codec::kLz4, RowsOfSections(), 200, "section 1 families 1 "},
          {"dictionary_zstd", Codec::kZstd, RowsAlike(), 64, "dictionary 9"}};
}

std::string PathOf(const std::string& name) { return TestDataPath("golden/sstable/" + name); }

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Golden, FilesReadAsEver) {
  MemFileSystem file_system;
  for (const Golden& golden : Goldens()) {
    SCOPED_TRACE(golden.name);
    const std::string name = golden.name;
    const auto summary = WriteSstable(&file_system, name, golden.rows,
                                      OptionsForTest(3, golden.codec, golden.row_group_bytes));
    ASSERT_TRUE(summary.ok()) << summary.status();
    const std::string built = *ReadBytes(&file_system, name);
    if (std::getenv("STELE_REWRITE") != nullptr) {
      WriteWhole(PathOf(name + ".sst"), built);
      const auto reader = OpenSstableFile(&file_system, name);
      WriteWhole(PathOf(name + ".txt"), *DumpSstable(**reader, /*cells=*/true));
      for (const char mode : {'0', '1'}) {
        WriteWhole(TestDataPath(fmt::format("fuzz/corpus/sstable/{}_{}", name, mode)),
                   mode + built);
      }
    }
    const std::string bytes = ReadWhole(PathOf(name + ".sst"));
    // The output of codecs may change with their versions. Uncompressed files must not change.
    if (golden.codec == Codec::kNone) {
      EXPECT_TRUE(built == bytes) << "the builder writes other bytes than it did";
    }
    ASSERT_TRUE(WriteBytes(&file_system, name + ".golden", bytes).ok());
    const auto reader = OpenSstableFile(&file_system, name + ".golden");
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto rows = ReadWholeSstable(**reader);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_TRUE(*rows == golden.rows);
    const auto dump = DumpSstable(**reader, /*cells=*/true);
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_EQ(*dump, ReadWhole(PathOf(name + ".txt")));
    EXPECT_NE(dump->find(golden.part), std::string::npos);
    EXPECT_TRUE(VerifySstable(**reader, [](const SstableDamage& damage) {
                  ADD_FAILURE() << damage.what;
                }).ok());
  }
}

}  // namespace
}  // namespace stele::internal
