// Tests the parts of an SSTable alone: packed integers, codecs, bloom filter, index bounds, block
// cache, cursors of several threads.
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "io/mem_file_system.h"
#include "sstable/format/bloom.h"
#include "sstable/format/codec.h"
#include "sstable/format/packed_ints.h"
#include "sstable/inspect/sstable_verify.h"
#include "sstable/read/page.h"
#include "sstable/write/page_builder.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

// Every width, both ends of the range, and the slack that loads need.
TEST(PackedInts, RoundTrip) {
  const std::vector<std::vector<int64_t>> lists = {{},
                                                   {7},
                                                   {-5, -5, -5},
                                                   {0, 255},
                                                   {0, 256},
                                                   {1000, 1000 + 65536},
                                                   {-1, 0xffffffffll},
                                                   {INT64_MIN, INT64_MAX, 0, -1}};
  for (const auto& list : lists) {
    std::string bytes;
    AppendPackedValues(&bytes, std::span<const int64_t>(list));
    const size_t length = bytes.size();
    bytes.append(kPackedSlackBytes, '\0');
    ByteReader in(std::string_view(bytes).substr(0, length));
    PackedInts ints;
    ASSERT_TRUE(ints.ReadFrom(&in, list.size()));
    EXPECT_TRUE(in.AtEnd());
    for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(static_cast<int64_t>(ints[i]), list[i]);
  }
}

TEST(PackedInts, EquallySpacedOffsetsTakeNoSpace) {
  std::string bytes;
  const std::vector<uint32_t> offsets = {0, 100, 200, 300, 400};
  AppendPackedOffsets(&bytes, offsets);
  EXPECT_EQ(bytes.size(), 3u);
  bytes.append(kPackedSlackBytes, '\0');
  ByteReader in(bytes);
  PackedInts ints;
  ASSERT_TRUE(ints.ReadFrom(&in, offsets.size()));
  EXPECT_TRUE(ints.AreOffsets(4, 400));
  EXPECT_FALSE(ints.AreOffsets(4, 401));
  EXPECT_FALSE(ints.AreOffsets(3, 400));
}

TEST(PackedInts, OffsetsThatGoBackAreRefused) {
  std::string bytes;
  const std::vector<int64_t> offsets = {0, 9, 8, 12};
  AppendPackedValues(&bytes, std::span<const int64_t>(offsets));
  bytes.append(kPackedSlackBytes, '\0');
  ByteReader in(bytes);
  PackedInts ints;
  ASSERT_TRUE(ints.ReadFrom(&in, offsets.size()));
  EXPECT_FALSE(ints.AreOffsets(3, 12));
  EXPECT_TRUE(ints.AllWithin(4, 0, 12));
  EXPECT_FALSE(ints.AllWithin(4, 0, 11));
  EXPECT_FALSE(ints.AllWithin(4, 1, 12));
}

TEST(PackedInts, HostileHeads) {
  for (const std::string& head :
       {std::string("\x03\0\0", 3), std::string("\x01\0\xff\xff\xff\xff\xff\x01", 8),
        std::string("\x01", 1)}) {
    ByteReader in(head);
    PackedInts ints;
    EXPECT_FALSE(ints.ReadFrom(&in, 1));
  }
  const std::string good("\x08\0\0", 3);
  ByteReader in(good);
  PackedInts ints;
  EXPECT_FALSE(ints.ReadFrom(&in, uint64_t{1} << 62)) << "a count whose bytes overflow";
}

// A few bytes must not claim many cells: arrays of width 0 take no space, whatever their count.
TEST(FamilyPage, CellsThatTakeNoBytesAreBounded) {
  const auto page_of = [](uint64_t cell_count) {
    std::string page;
    AppendVarint(page, cell_count);
    const auto constant = [&page](uint64_t stride, int64_t base) {
      page.push_back(0);
      AppendSignedVarint(page, base);
      AppendVarint(page, stride);
    };
    constant(cell_count, 0);                              // row starts of one row
    constant(0, 0);                                       // qualifier ids
    constant(0, 5);                                       // timestamps
    constant(0, static_cast<int64_t>(StoredKind::kSet));  // kinds
    AppendVarint(page, 1);
    constant(0, 0);  // qualifier offsets
    AppendVarint(page, 0);
    constant(0, 0);  // slot offsets
    return page;
  };
  for (const uint64_t cell_count : {uint64_t{1}, uint64_t{1} << 31}) {
    std::string page = page_of(cell_count);
    const size_t length = page.size();
    page.append(kPackedSlackBytes, '\0');
    FamilyPage parsed;
    EXPECT_EQ(parsed.ReadFrom(1, 0, 1, std::string_view(page).substr(0, length)), cell_count == 1);
  }
}

bool IsInside(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// Sets each byte of a page to each value. The page is rejected, or everything that it returns is
// inside the page.
TEST(FamilyPage, NothingReachesOutOfIt) {
  FamilyPageBuilder builder;
  builder.AddCell(0, "a", 5, StoredKind::kSet, "one");
  builder.AddCell(0, "b", 9, StoredKind::kDeleteRange, "12345678");
  builder.AddCell(1, "", 5, StoredKind::kDeleteFamily, "");
  builder.AddCell(1, "a", 300, StoredKind::kSet, "");
  builder.AddCell(2, "c", 5, StoredKind::kSet, "three");
  std::string good;
  builder.AppendPage(/*row_end=*/3, &good);
  const size_t length = good.size();
  size_t refused_count = 0;
  for (size_t at = 0; at < length; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good + std::string(kPackedSlackBytes, '\0');
      bytes[at] = static_cast<char>(value);
      const std::string_view page = std::string_view(bytes).substr(0, length);
      FamilyPage parsed;
      if (!parsed.ReadFrom(1, 0, 3, page)) {
        ++refused_count;
        continue;
      }
      ASSERT_EQ(parsed.row_begin(0), 0u);
      ASSERT_EQ(parsed.row_begin(3), parsed.cell_count());
      for (uint32_t cell = 0; cell < parsed.cell_count(); ++cell) {
        ASSERT_TRUE(IsInside(parsed.qualifier(cell), page)) << at << " set to " << value;
        ASSERT_TRUE(IsInside(parsed.slot(cell), page)) << at << " set to " << value;
        ASSERT_TRUE(parsed.kind(cell) >= StoredKind::kDeleteFamily &&
                    parsed.kind(cell) <= StoredKind::kHll);
        if (parsed.kind(cell) == StoredKind::kDeleteRange) {
          ASSERT_EQ(parsed.slot(cell).size(), 8u);
        }
      }
    }
  }
  EXPECT_GT(refused_count, length * 64);
}

TEST(KeysPage, NothingReachesOutOfIt) {
  KeysPageBuilder builder;
  for (const std::string_view key : {"", "ant", "bee", "wasp nest"}) builder.AddRow(key);
  builder.MarkLastRowDeleted();
  std::string good;
  builder.AppendPage(&good);
  const size_t length = good.size();
  for (size_t at = 0; at < length; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good + std::string(kPackedSlackBytes, '\0');
      bytes[at] = static_cast<char>(value);
      const std::string_view page = std::string_view(bytes).substr(0, length);
      KeysPage parsed;
      if (!parsed.ReadFrom(page)) continue;
      for (uint32_t row = 0; row < parsed.row_count(); ++row) {
        ASSERT_TRUE(IsInside(parsed.key(row), page)) << at << " set to " << value;
        if (row > 0) {
          ASSERT_LT(parsed.key(row - 1), parsed.key(row));
        }
      }
    }
  }
}

TEST(Codec, RoundTripAndLies) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += fmt::format("word{} ", i % 37);
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    GrowingBuffer out;
    const auto used = Compressor(codec, ZstdEffort::kQuick).Compress(text, &out);
    ASSERT_TRUE(used.ok());
    const std::string stored(out.view());
    ASSERT_EQ(*used, codec);
    std::string raw(text.size(), '\0');
    EXPECT_TRUE(Decompress(codec, stored, raw.data(), raw.size()));
    EXPECT_EQ(raw, text);
    EXPECT_FALSE(Decompress(codec, stored, raw.data(), raw.size() - 1));
    EXPECT_FALSE(Decompress(codec, std::string_view(stored).substr(1), raw.data(), raw.size()));
    std::string longer(text.size() + 1, '\0');
    EXPECT_FALSE(Decompress(codec, stored, longer.data(), longer.size()));
  }
  EXPECT_FALSE(Decompress(static_cast<Codec>(9), text, text.data(), text.size()));
}

TEST(Codec, WhatDoesNotShrinkStaysRaw) {
  Random random(1);
  std::string noise(5000, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next());
  for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
    GrowingBuffer stored;
    EXPECT_EQ(*Compressor(codec, ZstdEffort::kQuick).Compress(noise, &stored), Codec::kNone);
    EXPECT_EQ(stored.view(), noise);
  }
}

// Regression: after such a block the context was in the middle of a frame and accepted no
// dictionary. Every later flush failed.
TEST(Codec, TakesADictionaryAfterWhatDidNotShrink) {
  Random random(1);
  std::string noise(500, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next());
  Compressor compressor(Codec::kZstd, ZstdEffort::kQuick);
  GrowingBuffer stored;
  EXPECT_EQ(*compressor.Compress(noise, &stored), Codec::kNone);
  EXPECT_EQ(compressor.SetDictionary("a dictionary"), absl::OkStatus());
}

TEST(BloomFilter, FewFalsePositives) {
  BloomFilterBuilder builder;
  constexpr uint64_t kRows = 100'000;  // more than one chunk
  for (uint64_t i = 0; i < kRows; ++i)
    ASSERT_TRUE(builder.AddRow(RowHash(fmt::format("row{}", i))).ok());
  const auto bytes = builder.Finish();
  ASSERT_TRUE(bytes.ok());
  const auto bloom = BloomFilter::FromBytes(bytes->view());
  ASSERT_TRUE(bloom.ok());
  uint64_t found = 0;
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(bloom->MayContain(RowHash(fmt::format("row{}", i)))) << i;
    found += bloom->MayContain(RowHash(fmt::format("other{}", i)));
  }
  EXPECT_LT(found, kRows * 15 / 1000);
  EXPECT_LE(bytes->size(), kRows * 10 / 8 + 64);
}

class Weight final : public CachedBlock {
 public:
  explicit Weight(size_t bytes) : bytes_(bytes) {}
  size_t memory_bytes() const override { return bytes_; }

 private:
  const size_t bytes_;
};

TEST(BlockCache, KeepsToItsCapacityAndSurvivesScans) {
  BlockCache cache(100'000);
  const uint64_t id = cache.NewCacheId();
  for (uint64_t i = 0; i < 20; ++i) {
    cache.Insert(id, i, std::make_shared<Weight>(1000));
    EXPECT_NE(cache.Find(id, i), nullptr);  // used twice: protected
  }
  for (uint64_t i = 1000; i < 5000; ++i) {
    cache.Insert(id, i, std::make_shared<Weight>(1000));
    ASSERT_LE(cache.bytes(), cache.capacity_bytes());
  }
  for (uint64_t i = 0; i < 20; ++i)
    EXPECT_NE(cache.Find(id, i), nullptr) << "a scan drove out block " << i;
  EXPECT_EQ(cache.Find(id, 1000), nullptr);
  EXPECT_NE(cache.Find(id, 4999), nullptr);
}

TEST(BlockCache, ProtectedBlocksAgeToo) {
  BlockCache cache(100'000);
  const uint64_t id = cache.NewCacheId();
  for (uint64_t i = 0; i < 1000; ++i) {
    cache.Insert(id, i, std::make_shared<Weight>(1000));
    cache.Find(id, i);
    ASSERT_LE(cache.bytes(), cache.capacity_bytes());
  }
  EXPECT_EQ(cache.Find(id, 0), nullptr);
  EXPECT_NE(cache.Find(id, 999), nullptr);
  // A part of the cache stays free for new blocks, so that they live long enough to be hit.
  for (uint64_t i = 2000; i < 2010; ++i) cache.Insert(id, i, std::make_shared<Weight>(1000));
  for (uint64_t i = 2000; i < 2010; ++i) EXPECT_NE(cache.Find(id, i), nullptr);
}

TEST(BlockCache, ReplaceEraseAndTooLarge) {
  BlockCache cache(100'000);
  const uint64_t first = cache.NewCacheId();
  const uint64_t second = cache.NewCacheId();
  EXPECT_NE(first, second);
  cache.Insert(first, 1, std::make_shared<Weight>(1000));
  cache.Insert(first, 1, std::make_shared<Weight>(3000));
  EXPECT_EQ(cache.Find(first, 1)->memory_bytes(), 3000u);
  EXPECT_LT(cache.bytes(), 4000u);
  cache.Insert(second, 1, std::make_shared<Weight>(500));
  const auto pinned = cache.Find(first, 1);
  cache.Erase(first);
  EXPECT_EQ(cache.Find(first, 1), nullptr);
  EXPECT_EQ(pinned->memory_bytes(), 3000u);
  EXPECT_NE(cache.Find(second, 1), nullptr);
  cache.Insert(second, 1, std::make_shared<Weight>(200'000));  // larger than the whole cache
  EXPECT_EQ(cache.Find(second, 1), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(cache.hits(), 3u);
  EXPECT_EQ(cache.misses(), 2u);
}

// The sizes that a footer claims are compared with the bytes that remain before memory is
// allocated.
TEST(Footer, AClaimTakesNoMoreMemoryThanItsBytesHold) {
  Footer footer;
  SectionReference section;
  for (uint32_t id = 1; id <= 1000; ++id) {
    footer.summary.families.push_back({.family_id = id, .cells = 1});
    footer.family_ids.push_back(id);
    section.family_indexes.push_back(id);
  }
  footer.sections.push_back(section);
  std::string bytes;
  AppendFooter(&bytes, footer);
  Footer read;
  ASSERT_TRUE(ReadFooter(bytes, &read));
  EXPECT_EQ(read.summary.families.capacity(), 1000u);
  EXPECT_EQ(read.family_ids.capacity(), 1000u);
  EXPECT_EQ(read.sections.front().family_indexes.capacity(), 1000u);
  Footer cut;
  EXPECT_FALSE(ReadFooter(std::string_view(bytes).substr(0, 4000), &cut))
      << "a thousand families claimed, some of them there";
  EXPECT_EQ(cut.summary.families.capacity(), 0u);
  footer.family_ids.pop_back();
  footer.sections.front().family_indexes.pop_back();
  std::string fewer;
  AppendFooter(&fewer, footer);
  EXPECT_FALSE(ReadFooter(fewer, &cut)) << "a family that has no family index";
}

// Files are opened and closed while blocks are evicted, replaced and rejected as too large. Erase
// removes a file's blocks and no others.
TEST(BlockCache, EraseTakesAFilesBlocksAndNoOthers) {
  BlockCache cache(200'000);
  Random random(11);
  std::vector<uint64_t> files;
  for (int i = 0; i < 10; ++i) files.push_back(cache.NewCacheId());
  for (int step = 0; step < 20'000; ++step) {
    uint64_t& file = files[random.Below(files.size())];
    if (!random.OneIn(50)) {
      cache.Insert(file, random.Below(40),
                   std::make_shared<Weight>(random.OneIn(30) ? 300'000 : 500 + random.Below(2000)));
      ASSERT_LE(cache.bytes(), cache.capacity_bytes());
      continue;
    }
    std::vector<std::pair<uint64_t, uint64_t>> others;
    for (const uint64_t other : files) {
      for (uint64_t offset = 0; offset < 40 && other != file; ++offset) {
        if (cache.Find(other, offset) != nullptr) others.emplace_back(other, offset);
      }
    }
    cache.Erase(file);
    for (uint64_t offset = 0; offset < 40; ++offset) ASSERT_EQ(cache.Find(file, offset), nullptr);
    for (const auto& [other, offset] : others) ASSERT_NE(cache.Find(other, offset), nullptr);
    file = cache.NewCacheId();
  }
  for (const uint64_t file : files) cache.Erase(file);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(Reader, FileWithoutRows) {
  MemFileSystem file_system;
  const auto summary =
      WriteSstable(&file_system, "empty", {{"row without cells", {}}}, OptionsForTest(2));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->rows, 0u);
  const auto reader = OpenSstableFile(&file_system, "empty", &*summary);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE((*reader)->MayContainRow(RowHash("row")));
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    CursorOptions options;
    options.direction = direction;
    options.families = AllFamilies(2);
    const auto cursor = (*reader)->NewCursor(options);
    EXPECT_FALSE(cursor->SeekToEdge());
    EXPECT_FALSE(cursor->SeekRow("row"));
    EXPECT_TRUE(cursor->status().ok());
  }
  EXPECT_TRUE(VerifySstable(**reader, [](const SstableDamage& damage) {
                ADD_FAILURE() << damage.what;
              }).ok());
}

TEST(Reader, ProjectionReadsLess) {
  MemFileSystem file_system;
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 500; ++i) {
    OwnedRow row{fmt::format("row{:05}", i),
                 {{1, CellKind::kSet, 1, 0, "a", "x"},
                  {2, CellKind::kSet, 1, 0, "b", std::string(3000, 'b')}}};
    row.cells[1].value[static_cast<size_t>(i)] = 'c';
    rows.push_back(row);
  }
  ASSERT_TRUE(
      WriteSstable(&file_system, "table", rows, OptionsForTest(2, Codec::kNone, 64 << 10)).ok());
  const auto reader = OpenSstableFile(&file_system, "table");
  ASSERT_TRUE(reader.ok());
  CursorStats stats;
  CursorOptions options;
  options.families = {0, 1, kSkippedFamily};
  options.stats = &stats;
  const auto cursor = (*reader)->NewCursor(options);
  ASSERT_TRUE(cursor->SeekToEdge());
  EXPECT_EQ(ReadRows(cursor.get()).size(), rows.size());
  EXPECT_LT(stats.bytes_read, 100'000u);  // of 1.5 million
  EXPECT_LT(stats.bytes_decoded, 50'000u);
  EXPECT_GT(stats.blocks, 0u);
}

// Several threads, one reader, and a cache too small for the file: every cursor sees every row.
TEST(Concurrency, CursorsShareReaderAndCache) {
  MemFileSystem file_system;
  const std::vector<OwnedRow> rows =
      RandomRows(9, {.row_count = 300, .family_count = 4, .cells_per_row = 6});
  ASSERT_TRUE(WriteSstable(&file_system, "table", rows, OptionsForTest(4)).ok());
  BlockCache cache(60'000);
  const auto reader = OpenSstableFile(&file_system, "table", nullptr, &cache);
  ASSERT_TRUE(reader.ok());
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      Random random(seed);
      for (int i = 0; i < 15; ++i) {
        CursorOptions options;
        options.families = AllFamilies(4);
        if (random.OneIn(2)) options.families[1 + random.Below(4)] = kSkippedFamily;
        const auto cursor = (*reader)->NewCursor(options);
        const size_t begin = random.Below(rows.size());
        if (!cursor->SeekRow(rows[begin].row_key)) {
          ADD_FAILURE() << cursor->status();
          return;
        }
        const std::vector<OwnedRow> got = ReadRows(cursor.get());
        EXPECT_EQ(got.size(), rows.size() - begin);
        for (size_t row = 0; row < got.size(); ++row) {
          EXPECT_EQ(got[row].row_key, rows[begin + row].row_key);
          EXPECT_EQ(got[row].cells, Projected(rows[begin + row].cells, options.families));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(cache.hits(), 0u);
  EXPECT_LE(cache.bytes(), cache.capacity_bytes());
}

}  // namespace
}  // namespace stele::internal
