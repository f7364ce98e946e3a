// bench/micro/conditional_bench.cc: what reads before it writes costs, through the public API: increments and checks of one hot row and of
// 10,000 rows, by one thread and by several; beside them blind writes of the same size.
//
// Note:      a database in the current directory, each write in the log before it is acknowledged, not synced; one version is kept.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr int64_t kRows = 10'000;

// One for all benchmarks of a run; gone with the program.
class Counters {
 public:
  static Counters& Get() {
    static Counters counters;
    return counters;
  }
  Table table() const { return table_; }

 private:
  Counters() {
    char name[] = "conditional_bench_XXXXXX";
    directory_ = ::mkdtemp(name) == nullptr ? "" : name;
    absl::StatusOr<Database> database = Database::Open(directory_);
    if (!database.ok()) return;
    database_ = *std::move(database);
    table_ = database_.CreateTable("counters", Schema().AddFamily("n", GcRule::MaxNumVersions(1))).value_or(Table());
  }
  ~Counters() {
    table_ = Table();
    database_ = Database();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
  Database database_;
  Table table_;
};

// state.range(0) rows, each as often as the others; threads in different orders.
class RowKeys {
 public:
  explicit RowKeys(const benchmark::State& state)
      : rows_(static_cast<uint64_t>(state.range(0))), next_(static_cast<uint64_t>(state.thread_index())) {}
  std::string Next() {
    next_ = next_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return "counter" + std::to_string((next_ >> 33) % rows_);
  }

 private:
  const uint64_t rows_;
  uint64_t next_;
};

void BM_Increment(benchmark::State& state) {
  Table table = Counters::Get().table();
  RowKeys row_keys(state);
  const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("n", "count", 1);
  for (auto _ : state) {
    if (!table.ReadModifyWriteRow(row_keys.Next(), {increment}).ok()) return state.SkipWithError("an increment failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Increment)->Arg(1)->Arg(kRows)->ThreadRange(1, 8)->UseRealTime();

void BM_CheckAndMutate(benchmark::State& state) {
  Table table = Counters::Get().table();
  RowKeys row_keys(state);
  const Filter predicate = Filter::Column("n", "mark");
  const RowMutation take = RowMutation().DeleteFromColumn("n", "mark");
  const RowMutation set = RowMutation().SetCell("n", "mark", "12345678");
  for (auto _ : state) {
    if (!table.CheckAndMutateRow(row_keys.Next(), predicate, take, set).ok()) return state.SkipWithError("a check failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CheckAndMutate)->Arg(1)->Arg(kRows)->ThreadRange(1, 8)->UseRealTime();

void BM_BlindWrite(benchmark::State& state) {
  Table table = Counters::Get().table();
  RowKeys row_keys(state);
  for (auto _ : state) {
    if (!table.Apply(RowMutation(row_keys.Next()).SetCell("n", "blind", "12345678")).ok()) return state.SkipWithError("a write failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_BlindWrite)->Arg(1)->Arg(kRows)->ThreadRange(1, 8)->UseRealTime();

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
