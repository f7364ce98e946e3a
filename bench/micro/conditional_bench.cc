// bench/micro/conditional_bench.cc: the cost of operations that read before they write, through the
// public API.
// The first group is increments and checks of one hot row and of 10,000 rows, from one thread and
// from several. Blind writes of the same size are the baseline.
// The second group takes and releases locks on rows of five columns. The predicate is two regexes,
// as stele_server_load sends it, or the column's name. The rows are in a file or in memory. The
// baselines are the parts of a lock: a read of its column, and a read of the row.
//
// Note:      The database is in the current directory. Each write is in the log before it is
//            acknowledged, and is not synced. One version is kept.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "stele/stele.h"

namespace stele {
namespace {

constexpr int64_t kRows = 10'000;

// Shared by all benchmarks of a run, and removed when the program ends.
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
    table_ = database_.CreateTable("counters", Schema().AddFamily("n", GcRule::MaxNumVersions(1)))
                 .value_or(Table());
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

// state.range(0) rows, each equally often. Each thread has another order.
class RowKeys {
 public:
  explicit RowKeys(const benchmark::State& state)
      : rows_(static_cast<uint64_t>(state.range(0))),
        next_(static_cast<uint64_t>(state.thread_index())) {}
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
    if (!table.ReadModifyWriteRow(row_keys.Next(), {increment}).ok())
      return state.SkipWithError("an increment failed");
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
    if (!table.CheckAndMutateRow(row_keys.Next(), predicate, take, set).ok())
      return state.SkipWithError("a check failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CheckAndMutate)->Arg(1)->Arg(kRows)->ThreadRange(1, 8)->UseRealTime();

void BM_BlindWrite(benchmark::State& state) {
  Table table = Counters::Get().table();
  RowKeys row_keys(state);
  for (auto _ : state) {
    if (!table.Apply(RowMutation(row_keys.Next()).SetCell("n", "blind", "12345678")).ok())
      return state.SkipWithError("a write failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_BlindWrite)->Arg(1)->Arg(kRows)->ThreadRange(1, 8)->UseRealTime();

// 100,000 rows of 5 x 100 bytes, in a file or in the memtable. Every 50th row has a lock.
class LockedRows {
 public:
  static LockedRows& Get(bool in_file) {
    static LockedRows in_files(true);
    static LockedRows in_memory(false);
    return in_file ? in_files : in_memory;
  }
  Table table() const { return table_; }
  static std::string RowKey(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }
  static constexpr uint64_t kRows = 100'000;

 private:
  explicit LockedRows(bool in_file) {
    char name[] = "conditional_bench_XXXXXX";
    directory_ = ::mkdtemp(name) == nullptr ? "" : name;
    absl::StatusOr<Database> database =
        Database::Open(directory_, {.memory_budget_bytes = uint64_t{1} << 30});
    if (!database.ok()) return;
    database_ = *std::move(database);
    Table table =
        database_.CreateTable("rows", Schema().AddFamily("0").AddFamily("1")).value_or(Table());
    uint64_t noise = 1;
    for (uint64_t row = 0; row < kRows; ++row) {
      RowMutation mutation(RowKey(row));
      for (const auto& [family, qualifier] :
           {std::pair("0", "st"), {"1", "addr"}, {"1", "mail"}, {"1", "name"}, {"1", "note"}}) {
        std::string value(100, ' ');
        for (char& letter : value)
          letter = static_cast<char>('a' + ((noise = noise * 6364136223846793005ULL + 1) >> 60));
        mutation.SetCell(family, qualifier, Timestamp::FromMicros(1'000), value);
      }
      if (!table.Apply(mutation, {.durability = Durability::kProcess}).ok()) return;
    }
    if (in_file && (!table.Flush().ok() || !table.Compact().ok() || !database_.WaitForIdle().ok()))
      return;
    table_ = std::move(table);
  }
  ~LockedRows() {
    table_ = Table();
    database_ = Database();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
  Database database_;
  Table table_;
};

std::string NextLock(uint64_t* next) {
  *next = *next * 6364136223846793005ULL + 1442695040888963407ULL;
  return LockedRows::RowKey((*next >> 33) % (LockedRows::kRows / 50) * 50);
}

Filter LockFilter(bool by_regex) {
  return by_regex ? Filter::Chain(Filter::FamilyRegex("0"), Filter::ColumnRegex("lock"))
                  : Filter::Column("0", "lock");
}

void BM_Lock(benchmark::State& state) {
  Table table = LockedRows::Get(state.range(0) != 0).table();
  const RowMutation give_back = RowMutation().DeleteFromColumn("0", "lock");
  const RowMutation take =
      RowMutation().SetCell("0", "lock", Timestamp::FromMicros(1'000'000), "holder 1234");
  uint64_t next = 0;
  for (auto _ : state) {
    const Filter predicate = LockFilter(state.range(1) != 0);
    const auto branch = table.CheckAndMutateRow(NextLock(&next), predicate, give_back, take,
                                                {.durability = Durability::kProcess});
    if (!branch.ok()) return state.SkipWithError("a check failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Lock)->ArgNames({"in_file", "by_regex"})->ArgsProduct({{0, 1}, {0, 1}});

void BM_ReadLock(benchmark::State& state) {
  Table table = LockedRows::Get(state.range(0) != 0).table();
  uint64_t next = 0;
  for (auto _ : state) {
    if (!table.ReadRow(NextLock(&next), LockFilter(state.range(1) != 0)).ok())
      return state.SkipWithError("a read failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReadLock)->ArgNames({"in_file", "by_regex"})->ArgsProduct({{0, 1}, {0, 1}});

void BM_ReadRow(benchmark::State& state) {
  Table table = LockedRows::Get(state.range(0) != 0).table();
  uint64_t next = 0;
  for (auto _ : state) {
    if (!table.ReadRow(NextLock(&next)).ok()) return state.SkipWithError("a read failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReadRow)->ArgName("in_file")->Arg(0)->Arg(1);

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
