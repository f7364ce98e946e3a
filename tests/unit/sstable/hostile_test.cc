// Tests forged files: every checksum is correct, and the contents are not. Reading them returns an
// error without a crash, in memory and time proportional to the file's length.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/mem_file_system.h"
#include "sstable/read/row_group.h"
#include "sstable/write/page_builder.h"
#include "support/sstable_repair.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

class Hostile : public testing::Test {
 protected:
  // Returns an uncompressed file of `rows`.
  std::string Write(const std::vector<OwnedRow>& rows, uint32_t family_count) {
    const auto written = WriteSstable(&file_system_, "good", rows,
                                      OptionsForTest(family_count, Codec::kNone, 32 << 10));
    EXPECT_TRUE(written.ok()) << written.status();
    return *ReadBytes(&file_system_, "good");
  }
  std::shared_ptr<SstableReader> Open(std::string bytes) {
    RepairChecksums(&bytes);
    EXPECT_TRUE(WriteBytes(&file_system_, "hostile", bytes).ok());
    auto reader = OpenSstableFile(&file_system_, "hostile");
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? *std::move(reader) : nullptr;
  }

  MemFileSystem file_system_;
};

// Copies the file as a compaction does. If the output were written, the inputs would be deleted,
// and some of their cells could not be read.
absl::Status Copy(const SstableReader& reader, FileSystem* file_system) {
  const auto file = file_system->Open("copy", OpenMode::kCreate);
  SstableBuilder builder(file->get(), OptionsForTest(1));
  const auto cursor = reader.NewCursor({.families = AllFamilies(1)});
  std::vector<Cell> cells;
  for (bool more = cursor->SeekToEdge(); more; more = cursor->NextRow()) {
    STELE_RETURN_IF_ERROR(builder.StartRow(cursor->row_key()));
    for (cells.clear(); cursor->ReadCells(&cells); cells.clear())
      STELE_RETURN_IF_ERROR(builder.AddCells(cells));
  }
  STELE_RETURN_IF_ERROR(cursor->status());
  return builder.Finish().status();
}

TEST_F(Hostile, CellsOutOfOrderAreNotWrittenAgain) {
  std::vector<OwnedRow> rows = {
      {"row",
       {{1, CellKind::kSet, 5, 0, "aaaa", "first"}, {1, CellKind::kSet, 5, 0, "bbbb", "second"}}}};
  std::string bytes = Write(rows, 1);
  EXPECT_EQ(Copy(*Open(bytes), &file_system_), absl::OkStatus());
  ASSERT_TRUE(file_system_.Remove("hostile").ok());
  ASSERT_TRUE(file_system_.Remove("copy").ok());
  const size_t at = bytes.find("aaaabbbb");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 8, "bbbbaaaa");
  const absl::Status status = Copy(*Open(bytes), &file_system_);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("\"row\""), absl::string_view::npos) << status;
}

// Reads of a file whose summary counts no tombstone remove none (read/source_chain.cc).
TEST_F(Hostile, ATombstoneThatTheSummaryDoesNotCountIsDamage) {
  const std::vector<OwnedCell> tombstones = {{kRowFamily, CellKind::kDeleteRow, 0, 0, "", ""},
                                             {1, CellKind::kDeleteFamily, 0, 0, "", ""},
                                             {1, CellKind::kDeleteRange, 5, 1, "q", ""}};
  for (const OwnedCell& tombstone : tombstones) {
    std::string bytes = Write({{"row", {tombstone, {1, CellKind::kSet, 4, 0, "q", "v"}}}}, 1);
    SstableSummary summary = Open(bytes)->summary();
    std::string counted;
    AppendSummary(&counted, summary);
    summary.tombstones = summary.row_tombstones = summary.families[0].tombstones = 0;
    std::string uncounted;
    AppendSummary(&uncounted, summary);
    const size_t at = bytes.find(counted);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(uncounted.size(), counted.size());
    bytes.replace(at, counted.size(), uncounted);
    ASSERT_TRUE(file_system_.Remove("hostile").ok());
    const auto reader = Open(bytes);
    const auto cursor = reader->NewCursor({.families = AllFamilies(1)});
    ASSERT_TRUE(cursor->SeekToEdge());
    std::vector<Cell> cells;
    EXPECT_FALSE(cursor->ReadCells(&cells));
    EXPECT_TRUE(absl::IsDataLoss(cursor->status())) << cursor->status();
    ASSERT_TRUE(file_system_.Remove("hostile").ok());
    ASSERT_TRUE(file_system_.Remove("good").ok());
  }
}

struct OutOfOrder {
  const char* what;
  OwnedCell first;
  OwnedCell second;
};

TEST(BuilderOrder, WhatDoesNotFollowIsRefused) {
  const OwnedCell cell{1, CellKind::kSet, 5, 0, "q", "v"};
  const std::vector<OutOfOrder> cases = {
      {"the same cell", cell, cell},
      {"a newer version", cell, {1, CellKind::kSet, 6, 0, "q", "v"}},
      {"a lesser qualifier", cell, {1, CellKind::kSet, 4, 0, "p", "v"}},
      {"a lesser family", {2, CellKind::kSet, 5, 0, "q", "v"}, cell},
      {"a range tombstone behind its timestamp", cell, {1, CellKind::kDeleteRange, 5, 1, "q", ""}},
      {"a family tombstone behind a cell", cell, {1, CellKind::kDeleteFamily, 0, 0, "", ""}},
      {"a second row tombstone",
       {kRowFamily, CellKind::kDeleteRow, 0, 0, "", ""},
       {kRowFamily, CellKind::kDeleteRow, 0, 0, "", ""}},
  };
  for (const OutOfOrder& one : cases) {
    for (const bool in_one_call : {true, false}) {
      MemFileSystem file_system;
      const auto file = file_system.Open("file", OpenMode::kCreate);
      SstableBuilder builder(file->get(), OptionsForTest(2));
      ASSERT_EQ(builder.StartRow("row"), absl::OkStatus());
      const Cell cells[] = {one.first.View(), one.second.View()};
      absl::Status status;
      if (in_one_call) {
        status = builder.AddCells(cells);
      } else {
        ASSERT_EQ(builder.AddCells({cells, 1}), absl::OkStatus());
        status = builder.AddCells({cells + 1, 1});
      }
      EXPECT_TRUE(absl::IsDataLoss(status)) << one.what << ": " << status;
    }
  }
}

TEST(BuilderOrder, RowsThatDoNotFollowAreRefused) {
  for (const std::string_view second : {"row", "rov", ""}) {
    MemFileSystem file_system;
    const auto file = file_system.Open("file", OpenMode::kCreate);
    SstableBuilder builder(file->get(), OptionsForTest(1));
    const Cell cell{.family = 1, .timestamp = 5, .qualifier = "q", .value = "v"};
    ASSERT_EQ(builder.StartRow("row"), absl::OkStatus());
    ASSERT_EQ(builder.AddCells({&cell, 1}), absl::OkStatus());
    EXPECT_TRUE(absl::IsDataLoss(builder.StartRow(second))) << second;
  }
}

constexpr size_t kPageBytesMin = 21;  // no family page is shorter

// A block of pages without bytes, where each page would take some hundred bytes in memory.
TEST(BlockHead, PagesAreNotMadeForBytesThatAreNotThere) {
  constexpr uint32_t kPages = 100'000;
  const BlockEntry reference{
      .family_first = 1, .family_last = kPages, .row_first = 0, .row_end = 1};
  for (const size_t page_bytes : {size_t{0}, kPageBytesMin - 1, kPageBytesMin}) {
    std::vector<std::pair<uint32_t, size_t>> heads;
    for (uint32_t family_index = 1; family_index <= kPages; ++family_index)
      heads.emplace_back(family_index, page_bytes);
    std::string raw;
    AppendBlockHead(&raw, heads);
    auto blocks = DecodedBlocks::Allocate(nullptr, raw.size(), 2);
    ASSERT_TRUE(blocks.ok());
    EXPECT_FALSE((*blocks)->AddBlock(1, reference, raw)) << page_bytes;
    EXPECT_LT((*blocks)->memory_bytes(), 3 * raw.size()) << page_bytes;
  }
}

TEST(BlockHead, TheLeastPageIsAsLongAsIsSaid) {
  FamilyPageBuilder builder;
  builder.AddCell(0, "", 0, StoredKind::kDeleteFamily, "");
  std::string page;
  builder.AppendPage(1, &page);
  EXPECT_EQ(page.size(), kPageBytesMin);
  std::string raw;
  AppendBlockHead(&raw, {{1, page.size()}});
  raw += page;
  const BlockEntry reference{.family_first = 1, .family_last = 1, .row_first = 0, .row_end = 1};
  auto blocks = DecodedBlocks::Allocate(nullptr, raw.size() + kPackedSlackBytes, 0);
  ASSERT_TRUE(blocks.ok());
  char* const copy = (*blocks)->NextRaw(raw.size());
  std::copy(raw.begin(), raw.end(), copy);
  EXPECT_TRUE((*blocks)->AddBlock(1, reference, {copy, raw.size()}));
}

}  // namespace
}  // namespace stele::internal
