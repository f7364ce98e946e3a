// bench/steled/mutate_rows_bench.cc: the cost of a MutateRows request of 100 rows in steled, from
// the request's bytes to the files. It includes parsing, validation, log, memtable and response,
// and then flush and compaction. It excludes the transport.
//
// Figures:   row_us is the CPU time of the process per row, with its background threads. "settled"
//            includes flushes and compactions until no work is left.
// Note:      The database is in the current directory. Rows have 5 x 100 bytes and ascend, as in
//            bench/server's workload.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "compare/data.h"
#include "compare/measure.h"
#include "stele/stele.h"
#include "steled/services/mutate_rows.h"
#include "steled/transport/calls/call.h"

namespace stele::server {
namespace {

namespace wire = ::google::bigtable::v2;

constexpr uint64_t kRowsInCall = 100;
constexpr size_t kPoolBytes = size_t{16} << 20;
constexpr int kCalls = 2'000;

// Requests as received from the network, made in advance.
class Requests {
 public:
  static const std::vector<std::string>& Get() {
    static const Requests requests;
    return requests.bytes_;
  }

 private:
  Requests() {
    const stele_compare::Pool pool(kPoolBytes);
    stele_compare::RowMaker maker(pool, stele_compare::DataSet::kRandom);
    wire::MutateRowsRequest request;
    request.set_table_name("projects/bench/instances/bench/tables/filled");
    for (uint64_t row = 0; row < kCalls * kRowsInCall; ++row) {
      const stele_compare::RowData& data = maker.Make(row);
      auto* const entry = request.add_entries();
      entry->set_row_key(std::string(data.row_key));
      for (const stele_compare::CellData& cell : data.cells) {
        auto* const set = entry->add_mutations()->mutable_set_cell();
        set->set_family_name(std::string(cell.family));
        set->set_column_qualifier(std::string(cell.qualifier));
        set->set_timestamp_micros(cell.timestamp_micros);
        set->set_value(std::string(cell.value));
      }
      if ((row + 1) % kRowsInCall != 0) continue;
      bytes_.push_back(request.SerializeAsString());
      request.clear_entries();
    }
  }

  std::vector<std::string> bytes_;
};

// A directory that is removed at the end of the scope.
class Place {
 public:
  explicit Place(Durability durability) {
    char name[] = "mutate_rows_bench_XXXXXX";
    directory_ = ::mkdtemp(name) == nullptr ? "" : name;
    absl::StatusOr<Database> database = Database::Open(directory_, {.durability = durability});
    if (!database.ok()) return;
    database_ = *std::move(database);
    table_ =
        database_.CreateTable("filled", Schema().AddFamily("0", GcRule()).AddFamily("1", GcRule()))
            .value_or(Table());
  }
  ~Place() {
    table_ = Table();
    database_ = Database();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Table* table() { return &table_; }

 private:
  std::string directory_;
  Database database_;
  Table table_;
};

// Waits until the process uses less than a tenth of a core.
void Settle() {
  constexpr double kLookSeconds = 0.1;
  for (double before = stele_compare::CpuSeconds();;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookSeconds));
    const double now = stele_compare::CpuSeconds();
    if (now - before < kLookSeconds / 10) return;
    before = now;
  }
}

// A call for plain requests, which use nothing of it.
class NoCall final : public Call {
 public:
  const std::string& path() const override { return path_; }
  std::string_view metadata(std::string_view /*name*/) const override { return {}; }
  std::optional<std::chrono::steady_clock::time_point> deadline() const override {
    return std::nullopt;
  }
  std::stop_token stop() const override { return {}; }
  void SetRefused(RefusalCause /*cause*/) override {}
  bool Reserve(size_t /*bytes*/) override { return true; }
  bool ReserveAnswer(size_t /*bytes*/) override { return true; }
  void ReleaseAnswer(size_t /*bytes*/) override {}
  bool Receive(std::string* /*message*/) override { return false; }
  bool Send(std::string /*framed*/, bool /*is_last*/) override { return false; }
  bool CanSend() const override { return true; }
  bool CanReceive() const override { return true; }
  void Pause(PauseKind /*kind*/, std::shared_ptr<PausedCall> /*rest*/) override {}
  std::function<void()> Waker() override { return nullptr; }

 private:
  const std::string path_;
};

bool Serve(const std::string& bytes, const TableTraits& traits, Table* table) {
  MutateRowsMessage request;
  NoCall call;
  if (!request.Read(bytes, &call).ok()) return false;
  absl::StatusOr<EntryList> entries = request.ToEntries(traits);
  if (!entries.ok()) return false;
  std::vector<absl::Status> verdicts =
      ApplyEntries(table, *entries, {}, [] { return absl::OkStatus(); });
  EntryStatuses answer(std::string(request.table_name()), *std::move(entries), std::move(verdicts));
  for (bool is_last = false; !is_last;) {
    std::string message = answer.NextMessage(kPrefixBytes, &is_last);
    benchmark::DoNotOptimize(message);
  }
  return true;
}

void SetRowCost(benchmark::State& state, double cpu_seconds) {
  const auto rows = static_cast<double>(state.iterations() * kRowsInCall);
  state.counters["row_us"] = cpu_seconds * 1e6 / rows;
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}

// Parses the bytes to entries, and does not apply them.
void BM_Parse(benchmark::State& state) {
  const std::vector<std::string>& requests = Requests::Get();
  const double before = stele_compare::CpuSeconds();
  size_t next = 0;
  for (auto _ : state) {
    MutateRowsMessage request;
    NoCall call;
    if (!request.Read(requests[next++ % requests.size()], &call).ok())
      return state.SkipWithError("a request cannot be read");
    absl::StatusOr<EntryList> entries = request.ToEntries({});
    benchmark::DoNotOptimize(entries);
  }
  SetRowCost(state, stele_compare::CpuSeconds() - before);
}
BENCHMARK(BM_Parse)->Iterations(kCalls);

void BM_MutateRows(benchmark::State& state, Durability durability, bool settles) {
  const std::vector<std::string>& requests = Requests::Get();
  Place place(durability);
  const TableTraits traits;
  const double before = stele_compare::CpuSeconds();
  size_t next = 0;
  for (auto _ : state) {
    if (!Serve(requests[next++ % requests.size()], traits, place.table()))
      return state.SkipWithError("a request was refused");
  }
  if (settles) Settle();
  SetRowCost(state, stele_compare::CpuSeconds() - before);
}
BENCHMARK_CAPTURE(BM_MutateRows, process, Durability::kProcess, false)
    ->Iterations(kCalls)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_MutateRows, process_settled, Durability::kProcess, true)
    ->Iterations(kCalls)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_MutateRows, disk_settled, Durability::kDisk, true)
    ->Iterations(kCalls)
    ->UseRealTime();

}  // namespace
}  // namespace stele::server

BENCHMARK_MAIN();
