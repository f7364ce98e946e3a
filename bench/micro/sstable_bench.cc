// bench/micro/sstable_bench.cc: an SSTable alone: building it, scanning it from the block cache and
// from the file, and point reads.
//
// Data:      Rows of 16-byte keys with 5 columns in 2 families, and 100-byte values that compress
//            to about half. This is workload S of docs/performance.md.
// Counters:  Items are cells (build, scan) or rows (get).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/mem_file_system.h"
#include "sstable/format/bloom.h"
#include "sstable/read/sstable_reader.h"
#include "sstable/write/sstable_builder.h"

namespace stele::internal {
namespace {

constexpr size_t kRows = 100'000;
constexpr size_t kColumns = 5;
constexpr std::string_view kQualifiers[kColumns] = {"st", "addr", "mail", "name", "note"};
constexpr uint32_t kFamilies[kColumns] = {1, 2, 2, 2, 2};

std::string RowKey(size_t row) {
  char key[24];
  std::snprintf(key, sizeof key, "usr:%012zu", row * 10);
  return key;
}

// Words, which codecs can compress, and random letters, which they cannot.
const std::string& Pool() {
  static const std::string pool = [] {
    Random random(1);
    std::vector<std::string> words;
    for (int i = 0; i < 2000; ++i) {
      std::string word;
      for (uint64_t length = 3 + random.Below(8); length > 0; --length)
        word += static_cast<char>('a' + random.Below(26));
      words.push_back(word + ' ');
    }
    std::string text;
    while (text.size() < 8 << 20) {
      if (!random.OneIn(3)) {
        text += words[random.Below(words.size())];
      } else {
        for (int i = 0; i < 8; ++i) text += static_cast<char>('0' + random.Below(64));
      }
    }
    return text;
  }();
  return pool;
}

SstableSummary Build(File* file, Codec codec) {
  SstableBuilderOptions options;
  options.file_id = 1;
  options.family_ids = {1, 2};
  options.codec = codec;
  SstableBuilder builder(file, options);
  Random random(2);
  Cell cells[kColumns];
  for (size_t row = 0; row < kRows; ++row) {
    const std::string key = RowKey(row);
    for (size_t i = 0; i < kColumns; ++i) {
      cells[i].family = kFamilies[i];
      cells[i].qualifier = kQualifiers[i];
      cells[i].timestamp =
          1'700'000'000'000'000 + static_cast<int64_t>(random.Below(1'000'000'000));
      cells[i].value = std::string_view(Pool()).substr(random.Below(Pool().size() - 100), 100);
    }
    if (!builder.StartRow(key).ok() || !builder.AddCells(cells).ok()) std::abort();
  }
  auto summary = builder.Finish();
  if (!summary.ok()) std::abort();
  return *summary;
}

struct Fixture {
  MemFileSystem file_system;
  BlockCache cache{1 << 30};
  std::shared_ptr<SstableReader> reader;
  SstableSummary summary;

  Fixture(Codec codec, bool is_cached) {
    auto file = file_system.Open("table", OpenMode::kCreate);
    summary = Build(file->get(), codec);
    auto opened =
        SstableReader::Open(*std::move(file), "bench.sst", &summary, is_cached ? &cache : nullptr);
    if (!opened.ok()) std::abort();
    reader = *opened;
  }
};

CursorOptions OptionsOf(Direction direction, FamilyMap families) {
  CursorOptions options;
  options.direction = direction;
  options.families = std::move(families);
  return options;
}

// Touches each cell as a consumer would: both ends of its value, and its cell key.
uint64_t Consume(const std::vector<Cell>& cells) {
  uint64_t sum = 0;
  for (const Cell& cell : cells) {
    sum += cell.family + static_cast<uint64_t>(cell.timestamp) + cell.qualifier.size() +
           static_cast<unsigned char>(cell.qualifier[0]);
    sum += static_cast<unsigned char>(cell.value.front()) +
           static_cast<unsigned char>(cell.value.back());
  }
  return sum;
}

void BM_Build(benchmark::State& state) {
  const auto codec = static_cast<Codec>(state.range(0));
  Pool();
  uint64_t bytes = 0;
  for (auto _ : state) {
    MemFileSystem file_system;
    auto file = file_system.Open("table", OpenMode::kCreate);
    bytes = Build(file->get(), codec).file_bytes;
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows * kColumns));
  state.counters["file_bytes_per_cell"] = static_cast<double>(bytes) / (kRows * kColumns);
}
BENCHMARK(BM_Build)->ArgName("codec")->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

void Scan(benchmark::State& state, Direction direction, bool is_cached, const FamilyMap& families) {
  Fixture fixture(static_cast<Codec>(state.range(0)), is_cached);
  std::vector<Cell> cells;
  uint64_t sum = 0;
  size_t count = 0;
  const auto scan = [&] {
    const auto cursor = fixture.reader->NewCursor(OptionsOf(direction, families));
    for (bool more = cursor->SeekToEdge(); more; more = cursor->NextRow()) {
      cells.clear();
      while (cursor->ReadCells(&cells)) {
      }
      count += cells.size();
      sum += Consume(cells);
    }
  };
  if (is_cached) scan();
  count = 0;
  for (auto _ : state) scan();
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(count));
}
void BM_ScanCached(benchmark::State& state) { Scan(state, Direction::kForward, true, {0, 1, 2}); }
void BM_ScanFile(benchmark::State& state) { Scan(state, Direction::kForward, false, {0, 1, 2}); }
void BM_ReverseScanCached(benchmark::State& state) {
  Scan(state, Direction::kReverse, true, {0, 1, 2});
}
void BM_ProjectedScanFile(benchmark::State& state) {
  Scan(state, Direction::kForward, false, {0, 1, 0});
}
BENCHMARK(BM_ScanCached)->ArgName("codec")->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReverseScanCached)->ArgName("codec")->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ScanFile)->ArgName("codec")->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ProjectedScanFile)
    ->ArgName("codec")
    ->Arg(0)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

// Makes a new cursor for each get, as point reads do.
void BM_Get(benchmark::State& state) {
  const bool is_cached = state.range(1) != 0;
  Fixture fixture(static_cast<Codec>(state.range(0)), is_cached);
  const CursorOptions options = OptionsOf(Direction::kForward, {0, 1, 2});
  Random random(3);
  std::vector<Cell> cells;
  uint64_t sum = 0;
  const auto get = [&](size_t row) {
    const std::string key = RowKey(row);
    if (!fixture.reader->MayContainRow(RowHash(key))) std::abort();
    const auto cursor = fixture.reader->NewCursor(options);
    if (!cursor->SeekRow(key) || cursor->row_key() != key) std::abort();
    cells.clear();
    while (cursor->ReadCells(&cells)) {
    }
    sum += Consume(cells);
  };
  for (size_t row = 0; row < kRows && is_cached; row += 20) get(row);
  for (auto _ : state) get(random.Below(kRows));
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(BM_Get)->ArgNames({"codec", "cached"})->Args({1, 1})->Args({1, 0})->Args({2, 0});

void BM_BloomMiss(benchmark::State& state) {
  Fixture fixture(Codec::kLz4, true);
  Random random(4);
  uint64_t found = 0;
  for (auto _ : state)
    found += fixture.reader->MayContainRow(RowHash(RowKey(random.Below(kRows)) + 'x'));
  state.counters["false_positives"] =
      benchmark::Counter(static_cast<double>(found) / static_cast<double>(state.iterations()));
}
BENCHMARK(BM_BloomMiss);

}  // namespace
}  // namespace stele::internal

BENCHMARK_MAIN();
