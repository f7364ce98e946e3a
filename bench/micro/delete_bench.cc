// bench/micro/delete_bench.cc: the cost of many range deletes of one column, through the public
// API. A range delete is a DeleteFromColumn whose range starts above 0.
//
// Note:      The databases are in memory, so that no disk is measured.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>

#include "stele/stele.h"

namespace stele {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool Delete(Table& table, int64_t millis) {
  const TimestampRange version{Timestamp::FromMillis(millis), Timestamp::FromMillis(millis + 1)};
  return table.Apply(RowMutation("row").DeleteFromColumn("f", "q", version)).ok();
}

// Writes a version of a column and deletes one, after this was done range(0) times in the same
// column. Three versions are kept, so each delete needs a GC fence. Every fifth version stays.
void BM_FencedDelete(benchmark::State& state) {
  Database database = Database::Open("mem:").value();
  Table table =
      database.CreateTable("t", Schema().AddFamily("f", GcRule::MaxNumVersions(3))).value();
  int64_t millis = 1;
  const auto write_and_delete = [&] {
    const int64_t deleted = millis % 5 == 0 ? millis - 1 : millis;
    const RowMutation set =
        RowMutation("row").SetCell("f", "q", Timestamp::FromMillis(millis), "v");
    ++millis;
    return table.Apply(set).ok() && Delete(table, deleted);
  };
  while (millis <= state.range(0)) {
    if (!write_and_delete()) return state.SkipWithError("a write failed");
  }
  for (auto _ : state) {
    if (!write_and_delete()) return state.SkipWithError("a write failed");
  }
}
BENCHMARK(BM_FencedDelete)->Arg(100)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Iterations(100);

// range(0) range deletes of one column of a family that counts no versions; then a read of the row
// and a flush.
void BM_RangeDeletesOfAColumn(benchmark::State& state) {
  for (auto _ : state) {
    Database database = Database::Open("mem:").value();
    Table table = database.CreateTable("t", Schema().AddFamily("f")).value();
    auto start = std::chrono::steady_clock::now();
    for (int64_t i = 1; i <= state.range(0); ++i) {
      if (!Delete(table, 2 * i)) return state.SkipWithError("a delete failed");
    }
    state.counters["write_s"] = SecondsSince(start);
    start = std::chrono::steady_clock::now();
    if (!table.ReadRow("row").ok()) return state.SkipWithError("the read failed");
    state.counters["read_s"] = SecondsSince(start);
    start = std::chrono::steady_clock::now();
    if (!table.Flush().ok()) return state.SkipWithError("the flush failed");
    state.counters["flush_s"] = SecondsSince(start);
  }
}
BENCHMARK(BM_RangeDeletesOfAColumn)
    ->Arg(10'000)
    ->Arg(160'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
