// bench/micro/filter_bench.cc: the cost of a filter: its validation and compilation, and point
// reads of one column with it. A read of the whole row is the baseline.
#include <benchmark/benchmark.h>

#include <string>

#include "filter/program.h"
#include "model/validate.h"
#include "stele/stele.h"

namespace stele {
namespace {

Filter OneColumn() { return Filter::Chain(Filter::Column("cf", "field1"), Filter::Latest(1)); }
Filter Regexes() {
  return Filter::Chain(Filter::FamilyRegex("c.*"), Filter::ColumnRegex("field[0-4]"),
                       Filter::Latest(1));
}
Filter Columns() {
  return Filter::Chain(
      Filter::Interleave(Filter::Column("cf", "field1"), Filter::Column("cf", "field2"),
                         Filter::Column("cf", "field3")),
      Filter::Latest(1));
}

void BM_Compile(benchmark::State& state, const Filter& filter) {
  const internal::FamilyList families({{1, "cf"}, {2, "other"}});
  for (auto _ : state) {
    benchmark::DoNotOptimize(internal::ValidateFilter(filter, TimestampGranularity::kMillis));
    benchmark::DoNotOptimize(internal::FilterProgram::Compile(filter, families));
  }
}
BENCHMARK_CAPTURE(BM_Compile, one_column, OneColumn());
BENCHMARK_CAPTURE(BM_Compile, regexes, Regexes());
BENCHMARK_CAPTURE(BM_Compile, columns, Columns());

// 10,000 rows of ten cells, in one file and in the cache.
void BM_ReadRow(benchmark::State& state, const Filter& filter) {
  static Database database = Database::Open("mem:").value_or(Database());
  static Table table = [] {
    Table made =
        database.CreateTable("t", Schema().AddFamily("cf").AddFamily("other")).value_or(Table());
    for (int row = 0; row < 10'000; ++row) {
      RowMutation mutation("row" + std::to_string(row));
      for (int field = 0; field < 10; ++field)
        mutation.SetCell("cf", "field" + std::to_string(field), "a value of thirty-two bytes, say");
      if (!made.Apply(mutation).ok()) return Table();
    }
    return made.Compact().ok() ? made : Table();
  }();
  uint64_t next = 1;
  for (auto _ : state) {
    next = next * 6364136223846793005ULL + 1442695040888963407ULL;
    if (!table.ReadRow("row" + std::to_string((next >> 33) % 10'000), filter).ok())
      return state.SkipWithError("a read failed");
  }
}
BENCHMARK_CAPTURE(BM_ReadRow, all, Filter());
BENCHMARK_CAPTURE(BM_ReadRow, one_column, OneColumn());
BENCHMARK_CAPTURE(BM_ReadRow, regexes, Regexes());
BENCHMARK_CAPTURE(BM_ReadRow, columns, Columns());

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
