// bench/micro/install_bench.cc: the cost of a change in a database with many tablets or tables,
// through the public API. One change is the flush of one row: its install changes one tablet of n,
// or one table of n. The other is a property, whose install changes no tablet.
//
// Note:      The databases are in memory, so that no disk is measured. The CPU time is that of the
//            process, because background threads look for work after each install.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "stele/stele.h"

namespace stele {
namespace {

std::string RowOf(int64_t i) {
  std::string digits = std::to_string(i);
  return std::string(8 - digits.size(), '0') + digits;
}

Database OpenInMemory() {
  DatabaseOptions options;
  options.background_threads = 2;
  return Database::Open("mem:", options).value();
}

// Creates one tablet per row.
Table MakeTablets(Database& database, int64_t count) {
  Schema schema;
  schema.AddFamily("f");
  for (int64_t i = 1; i < count; ++i) schema.AddSplit(RowOf(i));
  return database.CreateTable("t", schema).value();
}

bool WriteAndFlush(Table& table, const std::string& row_key) {
  return table.Apply(RowMutation(row_key).SetCell("f", "q", "value")).ok() && table.Flush().ok();
}

void BM_FlushOneOfManyTablets(benchmark::State& state) {
  Database database = OpenInMemory();
  Table table = MakeTablets(database, state.range(0));
  int64_t i = 0;
  for (auto _ : state) {
    if (!WriteAndFlush(table, RowOf(i++ * 7919 % state.range(0))))
      state.SkipWithError("a flush failed");
  }
}

void BM_FlushOneOfManyTables(benchmark::State& state) {
  Database database = OpenInMemory();
  std::vector<Table> tables;
  for (int64_t i = 0; i < state.range(0); ++i) {
    tables.push_back(
        database.CreateTable("t" + std::to_string(i), Schema().AddFamily("f")).value());
  }
  int64_t i = 0;
  for (auto _ : state) {
    if (!WriteAndFlush(tables[static_cast<size_t>(i++ * 7919 % state.range(0))], "row"))
      state.SkipWithError("a flush failed");
  }
}

void BM_SetPropertyOfManyTablets(benchmark::State& state) {
  Database database = OpenInMemory();
  Table table = MakeTablets(database, state.range(0));
  int64_t i = 0;
  for (auto _ : state) {
    if (!table.SetProperty("p", std::to_string(i++)).ok()) state.SkipWithError("a change failed");
  }
}

BENCHMARK(BM_FlushOneOfManyTablets)
    ->Arg(10)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Iterations(300)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(BM_FlushOneOfManyTables)
    ->Arg(10)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Iterations(300)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(BM_SetPropertyOfManyTablets)
    ->Arg(10)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Iterations(300)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
