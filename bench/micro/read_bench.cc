// bench/micro/read_bench.cc: point reads through the public API of 200,000 rows of 5 x 100 bytes in
// one recompressed file. Reads whole rows and one column, from the block cache, and from the page
// cache with a block cache that is too small.
//
// Note:      The databases are in the current directory.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr uint64_t kRows = 200'000;
constexpr uint64_t kLargeBudget = uint64_t{1} << 30;
constexpr uint64_t kSmallBudget = uint64_t{89} << 20;

uint64_t Mix(uint64_t number) {
  number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 29)) * 0xd6e8feb86659fd93;
  return number ^ (number >> 32);
}

std::string RowKey(uint64_t row) {
  return "usr:" + std::to_string(100'000'000'000 + row * 8 + Mix(row) % 7);
}

// Words, some frequent. A codec compresses the text to about half.
std::string Text(uint64_t seed) {
  std::string text;
  while (text.size() < 100) {
    const uint64_t chance = Mix(++seed);
    const uint64_t word = (chance % 4096) * (chance % 4096) / 4096;
    for (uint64_t letter = 0; letter < 3 + word % 8; ++letter)
      text += static_cast<char>('a' + Mix(word + letter) % 26);
    text += ' ';
  }
  text.resize(100);
  return text;
}

// Filled once, and reopened for each budget.
class Rows {
 public:
  static Rows& Get() {
    static Rows rows;
    return rows;
  }
  Table Open(uint64_t budget_bytes) {
    if (budget_bytes == open_budget_) return table_;
    table_ = Table();
    database_ = Database();
    open_budget_ = budget_bytes;
    database_ =
        Database::Open(directory_, {.memory_budget_bytes = budget_bytes}).value_or(Database());
    table_ = database_.OpenTable("rows").value_or(Table());
    return table_;
  }

 private:
  Rows() {
    char name[] = "read_bench_XXXXXX";
    directory_ = ::mkdtemp(name) == nullptr ? "" : name;
    database_ = Database::Open(directory_).value_or(Database());
    Table table =
        database_.CreateTable("rows", Schema().AddFamily("0").AddFamily("1")).value_or(Table());
    BulkLoad load = table.NewBulkLoad();
    for (uint64_t row = 0; row < kRows; ++row) {
      RowMutation mutation(RowKey(row));
      uint64_t seed = row << 16;
      for (const auto& [family, qualifier] :
           {std::pair("0", "st"), {"1", "addr"}, {"1", "mail"}, {"1", "name"}, {"1", "note"}}) {
        mutation.SetCell(family, qualifier, Timestamp::FromMicros(1'700'000'000'000'000),
                         Text(seed += 1000));
      }
      if (!load.Add(mutation).ok()) return;
    }
    (void)load.Finish();
    (void)table.Compact();
    (void)database_.WaitForIdle();
  }
  ~Rows() {
    table_ = Table();
    database_ = Database();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
  uint64_t open_budget_ = 0;
  Database database_;
  Table table_;
};

void Read(benchmark::State& state, uint64_t budget_bytes, const Filter& filter) {
  Table table = Rows::Get().Open(budget_bytes);
  if (budget_bytes == kLargeBudget) {
    for (uint64_t row = 0; row < kRows; ++row)
      benchmark::DoNotOptimize(table.ReadRow(RowKey(row), filter));
  }
  uint64_t next = 0;
  uint64_t bytes = 0;
  for (auto _ : state) {
    const auto row = table.ReadRow(RowKey(Mix(++next) % kRows), filter);
    if (!row.ok() || !row->has_value()) return state.SkipWithError("a read failed");
    for (const CellView& cell : (*row)->cells()) bytes += cell.value().size();
  }
  benchmark::DoNotOptimize(bytes);
}

void BM_Cached(benchmark::State& state) { Read(state, kLargeBudget, {}); }
void BM_CachedColumn(benchmark::State& state) {
  Read(state, kLargeBudget, Filter::Column("1", "mail"));
}
void BM_PageCache(benchmark::State& state) { Read(state, kSmallBudget, {}); }
void BM_PageCacheColumn(benchmark::State& state) {
  Read(state, kSmallBudget, Filter::Column("1", "mail"));
}
BENCHMARK(BM_Cached);
BENCHMARK(BM_CachedColumn);
BENCHMARK(BM_PageCache);
BENCHMARK(BM_PageCacheColumn);

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
