// bench/micro/token_bench.cc: writes with idempotency tokens at 10,000 a second by a manual clock,
// through the public API. 9,000,000 writes are the 15 minutes that a token is remembered.
// The counters are the memory of the process, the bytes on disk, and the time to open the database
// again. A repeat of the first write must be recognized.
//
// Note:      The database is in the current directory, with a budget of 256 MiB. Writes are not
//            synced.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr std::chrono::microseconds kBetweenWrites{100};

double ResidentMib() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double DiskMib(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) bytes += file.file_size();
  return static_cast<double>(bytes) / (1 << 20);
}

WriteOptions TokenOf(int64_t i) {
  return {.durability = Durability::kProcess,
          .idempotency_token = "0b5f9a3c-token-" + std::to_string(i)};
}

// Increments one of 1,000,000 rows: a repeat that is not recognized would change the number.
absl::StatusOr<Row> Increment(Table& table, int64_t i) {
  return table.ReadModifyWriteRow("row" + std::to_string(i * 7919 % 1'000'000),
                                  {ReadModifyWriteRule::IncrementAmount("f", "n", 1)}, TokenOf(i));
}

void BM_TokenWrites(benchmark::State& state) {
  char name[] = "token_bench_XXXXXX";
  const std::string directory = ::mkdtemp(name) == nullptr ? "" : name;
  const auto clock = std::make_shared<ManualClock>(Timestamp::FromMicros(1'700'000'000'000'000));
  DatabaseOptions options;
  options.memory_budget_bytes = uint64_t{256} << 20;
  options.clock = clock;
  Database database = Database::Open(directory, options).value();
  Table table = database.CreateTable("t", Schema().AddFamily("f")).value();
  int64_t i = 0;
  const bool blind = state.range(0) == 0;
  for (auto _ : state) {
    clock->Advance(kBetweenWrites);
    const RowMutation mutation = RowMutation("row" + std::to_string(i)).SetCell("f", "q", "v");
    const absl::Status written =
        blind && i > 0 ? table.Apply(mutation, TokenOf(i)) : Increment(table, i).status();
    if (!written.ok()) return state.SkipWithError(written.ToString().c_str());
    ++i;
  }
  state.counters["rss_mib"] = ResidentMib();
  state.counters["disk_mib"] = DiskMib(directory);
  const bool known = Increment(table, 0)->cells()[0].AsInt64().value_or(0) == 1;
  table = Table();
  database = Database();
  const auto start = std::chrono::steady_clock::now();
  database = Database::Open(directory, options).value();
  state.counters["open_s"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  table = database.OpenTable("t").value();
  if (!known || Increment(table, 0)->cells()[0].AsInt64().value_or(0) != 1)
    state.SkipWithError("the repeat of the first write was not recognized");
  table = Table();
  database = Database();
  std::filesystem::remove_all(directory);
}
BENCHMARK(BM_TokenWrites)
    ->ArgName("increment")
    ->Arg(0)
    ->Iterations(9'000'000)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(BM_TokenWrites)
    ->ArgName("increment")
    ->Arg(1)
    ->Iterations(1'000'000)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
