// bench/micro/pause_bench.cc: the longest wait of a writer next to a call that works on another
// table, through the public API. The table of the call has range(0) tablets. A thread writes cells
// of 4 KB to it, and another writes a small cell to a second table every 0.5 ms. The counters are
// that writer's median and longest write, and the mean time of the call.
//
// Note:      The database is in the current directory. Writes are not synced.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "stele/stele.h"

namespace stele {
namespace {

using SteadyClock = std::chrono::steady_clock;

double MillisSince(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

std::string RowOf(int64_t i) {
  std::string digits = std::to_string(i);
  return std::string(8 - digits.size(), '0') + digits;
}

class TwoTables {
 public:
  explicit TwoTables(int64_t tablets) : tablets_(tablets) {
    char name[] = "pause_bench_XXXXXX";
    directory_ = ::mkdtemp(name) == nullptr ? "" : name;
    DatabaseOptions options;
    options.memory_budget_bytes = uint64_t{256} << 20;
    database_ = Database::Open(directory_, options).value();
    Schema schema;
    schema.AddFamily("f");
    for (int64_t i = 1; i < tablets; ++i) schema.AddSplit(RowOf(i));
    busy = database_.CreateTable("busy", schema).value();
    other_ = database_.CreateTable("other", Schema().AddFamily("f")).value();
    threads_.emplace_back([this] {
      const std::string value(4096, 'v');
      for (int64_t i = 0; !stop_; ++i) {
        if (!busy.Apply(RowMutation(RowOf(i % tablets_)).SetCell("f", "q", value)).ok()) return;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    threads_.emplace_back([this] {
      for (int64_t i = 0; !stop_; ++i) {
        const SteadyClock::time_point start = SteadyClock::now();
        if (!other_.Apply(RowMutation(RowOf(i)).SetCell("f", "q", "v")).ok()) return;
        waits_.push_back(MillisSince(start));
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    });
  }
  ~TwoTables() {
    Stop();
    busy = other_ = Table();
    database_ = Database();
    std::filesystem::remove_all(directory_);
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // The waits of the other table's writer, sorted. Valid after Stop.
  const std::vector<double>& SortedWaits() {
    std::sort(waits_.begin(), waits_.end());
    return waits_;
  }
  Database& database() { return database_; }

  Table busy;

 private:
  const int64_t tablets_;
  std::string directory_;
  Database database_;
  Table other_;
  std::atomic<bool> stop_{false};
  std::vector<double> waits_;
  std::vector<std::thread> threads_;
};

using Call = std::function<absl::Status(TwoTables& tables, int64_t i)>;

void MeasureBeside(benchmark::State& state, const Call& call) {
  TwoTables tables(state.range(0));
  int64_t i = 0;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const SteadyClock::time_point start = SteadyClock::now();
    const absl::Status status = call(tables, i++);
    state.SetIterationTime(MillisSince(start) / 1e3);
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
  }
  tables.Stop();
  const std::vector<double>& waits = tables.SortedWaits();
  state.counters["median_ms"] = waits[waits.size() / 2];
  state.counters["longest_ms"] = waits.back();
}

void BM_Nothing(benchmark::State& state) {
  MeasureBeside(state, [](TwoTables&, int64_t) { return absl::OkStatus(); });
}

void BM_BulkLoad(benchmark::State& state) {
  MeasureBeside(state, [](TwoTables& tables, int64_t i) {
    BulkLoad load = tables.busy.NewBulkLoad();
    for (int64_t row = 0; row < 1000; ++row) {
      const absl::Status added =
          load.Add(RowMutation(RowOf(row)).SetCell("f", "load" + std::to_string(i), "v"));
      if (!added.ok()) return added;
    }
    return load.Finish();
  });
}

void BM_DropRowRange(benchmark::State& state) {
  MeasureBeside(state, [](TwoTables& tables, int64_t i) {
    return tables.busy.DropRowRange(RowRange::Prefix(RowOf(i).substr(0, 7)));
  });
}

void BM_Verify(benchmark::State& state) {
  MeasureBeside(state, [](TwoTables& tables, int64_t) {
    const absl::StatusOr<VerifyReport> report = tables.database().Verify();
    return report.status();
  });
}

BENCHMARK(BM_Nothing)->Arg(10'000)->Iterations(5)->UseManualTime();
BENCHMARK(BM_BulkLoad)->Arg(100)->Arg(10'000)->Iterations(5)->UseManualTime();
BENCHMARK(BM_DropRowRange)->Arg(100)->Arg(10'000)->Iterations(5)->UseManualTime();
BENCHMARK(BM_Verify)->Arg(10'000)->Iterations(5)->UseManualTime();

}  // namespace
}  // namespace stele

BENCHMARK_MAIN();
