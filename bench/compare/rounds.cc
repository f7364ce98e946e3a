#include "rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "child.h"
#include "measure.h"

namespace stele_compare {
namespace {

constexpr size_t kPoolBytes = size_t{64} << 20;
constexpr uint64_t kUncachedCacheBytes = uint64_t{32} << 20;
// No engine flushes the rows of DataSet::kLogged then. A memtable of Stele has at most 64 MiB.
constexpr uint64_t kLargeWriteBufferBytes = uint64_t{512} << 20;
constexpr int kTablesWithoutFlush = 4;

bool ReplacesVersions(DataSet data_set) {
  return data_set == DataSet::kYcsb || data_set == DataSet::kCounters ||
         data_set == DataSet::kBench;
}

class Rounds {
 public:
  Rounds(const Plan& plan, const std::function<void(const Result&)>& on_result)
      : plan_(plan), on_result_(on_result), pool_(kPoolBytes) {}

  Outcome Run() {
    for (round_ = 1; round_ <= plan_.rounds; ++round_) {
      for (const Workload& workload : Workloads()) {
        if (IsAsked(workload) || (workload.IsLoad() && AnyReaderIsAsked(workload)))
          RunOnAll(workload);
        if (IsLastOf(workload)) RemoveDirectories(workload.data_set);
      }
    }
    return std::move(outcome_);
  }

 private:
  bool IsAsked(const Workload& workload) const {
    return plan_.only.empty() ||
           std::find(plan_.only.begin(), plan_.only.end(), workload.name) != plan_.only.end();
  }
  bool AnyReaderIsAsked(const Workload& load) const {
    const auto workloads = Workloads();
    return std::any_of(workloads.begin(), workloads.end(), [&](const Workload& workload) {
      return workload.data_set == load.data_set && IsAsked(workload);
    });
  }
  static bool IsLastOf(const Workload& workload) {
    const auto workloads = Workloads();
    return &workload == &workloads.back() || (&workload + 1)->data_set != workload.data_set;
  }
  std::string DirectoryOf(DataSet data_set, const Contender& contender) const {
    return fmt::format("{}/{}-{}", plan_.directory, contender.name, NameOf(data_set));
  }
  void RemoveDirectories(DataSet data_set) const {
    for (const Contender& contender : plan_.contenders)
      std::filesystem::remove_all(DirectoryOf(data_set, contender));
  }

  void RunOnAll(const Workload& workload) {
    const size_t count = plan_.contenders.size();
    for (size_t i = 0; i < count; ++i) {
      const Contender& contender = plan_.contenders[(i + static_cast<size_t>(round_)) % count];
      const Figure figure = RunOnOne(workload, contender);
      const std::string what = fmt::format("{} {} round {}", workload.name, contender.name, round_);
      if (figure.error[0] != '\0')
        outcome_.failures.push_back(fmt::format("{}: {}", what, figure.error));
      if (!IsAsked(workload)) continue;
      outcome_.results.push_back({&workload, contender.name, round_, figure});
      on_result_(outcome_.results.back());
    }
    CompareHashes(workload);
  }

  Figure RunOnOne(const Workload& workload, const Contender& contender) const {
    WorkloadRun run;
    run.workload = &workload;
    run.settings.directory = DirectoryOf(workload.data_set, contender);
    run.settings.replaces_versions = ReplacesVersions(workload.data_set);
    run.settings.keeps_one_version =
        run.settings.replaces_versions || workload.data_set == DataSet::kOverwrite;
    if (workload.kind == WorkloadKind::kRecover) {
      run.settings.keeps_replayed_log = true;
      run.settings.write_buffer_bytes = kLargeWriteBufferBytes;
      run.settings.table_count = kTablesWithoutFlush;
    }
    if (!workload.StartsEmpty() && workload.warmth != Warmth::kCached)
      run.settings.cache_bytes = kUncachedCacheBytes;
    run.rows = plan_.rows;
    run.seed = static_cast<uint64_t>(round_);
    run.compacts = plan_.compacts;
    run.pool = &pool_;
    if (workload.StartsEmpty()) {
      std::filesystem::remove_all(run.settings.directory);
      std::filesystem::create_directories(run.settings.directory);
    }
    const Figure figure = RunInChild([&] { return contender.run(run); });
    // So that the writeback is not part of the next engine's time.
    if (workload.IsLoad()) SyncFiles(run.settings.directory);
    return figure;
  }

  // Compares the hashes of the round that just ran.
  void CompareHashes(const Workload& workload) {
    const Result* first = nullptr;
    for (const Result& result : outcome_.results) {
      if (result.workload != &workload || result.round != round_ || result.figure.error[0] != '\0')
        continue;
      if (first == nullptr) {
        first = &result;
      } else if (result.figure.hash != first->figure.hash ||
                 result.figure.cell_count != first->figure.cell_count) {
        outcome_.failures.push_back(fmt::format(
            "{} round {}: {} read {} cells, hash {:016x}; {} read {} cells, hash {:016x}",
            workload.name, round_, first->engine, first->figure.cell_count, first->figure.hash,
            result.engine, result.figure.cell_count, result.figure.hash));
      }
    }
  }

  const Plan& plan_;
  const std::function<void(const Result&)>& on_result_;
  const Pool pool_;
  int round_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result) {
  return Rounds(plan, on_result).Run();
}

}  // namespace stele_compare
