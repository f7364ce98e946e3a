#include "lab/compare/rounds.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "base/thread.h"
#include "keys/printable.h"
#include "lab/figures/figures.h"
#include "lab/measure/interval_counts.h"
#include "lab/workload/random.h"
#include "lab/workload/replay_rate.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareOptions;
using stele::lab::CompareReport;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLateAfter(1);

// Stops a round: its threads then begin no other operation.
class RoundStop {
 public:
  // Any thread may call this. The first call says why the round ended.
  void Stop(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    if (!is_stopped_) why_ = why;
    is_stopped_ = true;
    stopped_.SignalAll();
  }
  bool is_stopped() const { return is_stopped_; }
  // OK if the round was not stopped.
  absl::Status why() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return why_;
  }
  // Waits until `due` or a stop.
  void AwaitUntil(SteadyClock::time_point due) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    while (!is_stopped_) {
      const std::chrono::nanoseconds left = due - SteadyClock::now();
      if (left.count() <= 0) return;
      stopped_.WaitFor(mutex_, left);
    }
  }

 private:
  mutable Mutex mutex_;
  CondVar stopped_;  // with mutex_
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_stopped_ = false;
};

// One thread of a round.
class RoundThread {
 public:
  RoundThread(const ComparedDesign& design, const LogicalWorkload& workload,
              const CompareOptions& options, uint64_t number, RoundStop* stop)
      : design_(design),
        workload_(workload),
        options_(options),
        number_(number),
        stop_(*stop),
        latencies_(workload.queries.size()) {}
  ~RoundThread() { Join(); }
  RoundThread(const RoundThread&) = delete;
  RoundThread& operator=(const RoundThread&) = delete;

  // Runs the operations of this thread, which are due after `begin`. `measured`: the time of the
  // rounds before this one.
  absl::Status Start(SteadyClock::time_point begin, std::chrono::nanoseconds measured) {
    begin_ = begin;
    measured_ = measured;
    return StartStatus(thread_.Start<&RoundThread::Run>(this),
                       fmt::format("thread {} of {}; use fewer CompareOptions::threads",
                                   number_ + 1, options_.threads));
  }
  void Join() { thread_.Join(); }

  const std::vector<stele::lab::LatencyHistogram>& latencies() const { return latencies_; }
  const IntervalCounts& counts() const { return counts_; }
  uint64_t late() const { return late_; }

 private:
  void Run() {
    for (size_t i = 0; i < workload_.operations.size() && !stop_.is_stopped(); ++i) {
      const LogicalOperation& operation = workload_.operations[i];
      if (options_.threads > 1 && Fnv1a(operation.record) % options_.threads != number_) continue;
      const absl::Status status =
          Measure(operation, begin_ + DueAfter(options_.rate, i, operation.micros));
      if (!status.ok()) stop_.Stop(status);
    }
  }

  // Returns without running the operation if the round is stopped.
  absl::Status Measure(const LogicalOperation& operation, SteadyClock::time_point due) {
    const LogicalQuery& query = workload_.queries[operation.query];
    const auto prepared = design_.Prepare(operation);
    if (!prepared.ok()) return FailedOperation(design_, query, prepared.status());
    if (options_.rate.is_open_loop()) stop_.AwaitUntil(due);
    if (stop_.is_stopped()) return absl::OkStatus();
    const SteadyClock::time_point begin = SteadyClock::now();
    if (!options_.rate.is_open_loop()) due = begin;
    if (begin - due > kLateAfter) ++late_;
    const absl::Status status = design_.Run(operation, *prepared, nullptr);
    const SteadyClock::time_point end = SteadyClock::now();
    if (!status.ok()) return FailedOperation(design_, query, status);
    latencies_[operation.query].Record(static_cast<uint64_t>((end - due).count()));
    counts_.Record(measured_ + (end - begin_));
    return absl::OkStatus();
  }

  const ComparedDesign& design_;
  const LogicalWorkload& workload_;
  const CompareOptions& options_;
  const uint64_t number_;
  RoundStop& stop_;
  SteadyClock::time_point begin_;
  std::chrono::nanoseconds measured_{0};
  std::vector<stele::lab::LatencyHistogram> latencies_;  // by query
  IntervalCounts counts_;
  uint64_t late_ = 0;
  Thread thread_;  // accessed by the caller's thread only
};

struct RoundLatency {
  uint64_t p50 = 0;
  uint64_t p99 = 0;
};

struct RoundResult {
  std::vector<RoundLatency> latencies;  // by query
  double operations_per_second = 0;
  double cpu_seconds = 0;
  uint64_t late = 0;
};

// Adds the latencies and the counts of the round to those of all rounds.
absl::StatusOr<RoundResult> RunRound(const ComparedDesign& design, const LogicalWorkload& workload,
                                     const CompareOptions& options, IntervalCounts* counts,
                                     CompareReport::TimedFigures* figures) {
  RoundStop stop;
  std::vector<std::unique_ptr<RoundThread>> parts;
  for (uint64_t i = 0; i < options.threads; ++i)
    parts.push_back(std::make_unique<RoundThread>(design, workload, options, i, &stop));
  const double cpu_before = CpuSeconds();
  const SteadyClock::time_point begin = SteadyClock::now();
  {
    const std::stop_callback on_stop(
        options.stop, [&stop] { stop.Stop(Cancelled("the comparison was stopped")); });
    for (const auto& part : parts) {
      const absl::Status started = part->Start(begin, figures->rates.time);
      if (started.ok()) continue;
      stop.Stop(started);
      break;
    }
    for (const auto& part : parts) part->Join();
  }
  STELE_RETURN_IF_ERROR(stop.why());
  const auto time = SteadyClock::now() - begin;
  RoundResult round;
  round.cpu_seconds = CpuSeconds() - cpu_before;
  round.operations_per_second = PerSecond(workload.operations.size(), time);
  figures->rates.time += time;
  for (const auto& part : parts) {
    round.late += part->late();
    counts->Add(part->counts());
  }
  for (size_t query = 0; query < workload.queries.size(); ++query) {
    stele::lab::LatencyHistogram sum;
    for (const auto& part : parts) sum.Add(part->latencies()[query]);
    round.latencies.push_back({.p50 = sum.ValueAtPercentile(50), .p99 = sum.ValueAtPercentile(99)});
    figures->queries[query].all_rounds.Add(sum);
  }
  return round;
}

CompareReport::Measured MeasuredOf(const std::vector<RoundResult>& rounds,
                                   const std::function<double(const RoundResult&)>& number) {
  std::vector<double> numbers;
  for (const RoundResult& round : rounds) numbers.push_back(number(round));
  std::sort(numbers.begin(), numbers.end());
  const size_t half = numbers.size() / 2;
  return {
      .median = numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2,
      .least = numbers.front(),
      .largest = numbers.back()};
}

void AddRounds(const std::vector<RoundResult>& rounds, const IntervalCounts& counts,
               CompareReport::TimedFigures* figures) {
  figures->rates.interval = counts.width();
  figures->rates.operations = counts.counts();
  figures->operations_per_second =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.operations_per_second; });
  figures->cpu_seconds =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.cpu_seconds; });
  figures->late =
      MeasuredOf(rounds, [](const RoundResult& round) { return static_cast<double>(round.late); });
  for (size_t query = 0; query < figures->queries.size(); ++query) {
    CompareReport::LatencyFigures& latency = figures->queries[query];
    const auto measured = [&](uint64_t RoundLatency::*member) {
      return MeasuredOf(rounds, [&](const RoundResult& round) {
        return static_cast<double>(round.latencies[query].*member);
      });
    };
    latency.p50 = measured(&RoundLatency::p50);
    latency.p99 = measured(&RoundLatency::p99);
  }
}

}  // namespace

absl::StatusOr<std::vector<CompareReport::TimedFigures>> RunRounds(
    const std::vector<std::unique_ptr<ComparedDesign>>& designs, const LogicalWorkload& workload,
    const CompareOptions& options, CacheState cache) {
  std::vector<CompareReport::TimedFigures> figures(designs.size());
  for (CompareReport::TimedFigures& each : figures) each.queries.resize(workload.queries.size());
  const std::string phase = cache == CacheState::kCold ? "measuring, cold" : "measuring";
  std::vector<std::vector<RoundResult>> rounds(designs.size());
  std::vector<IntervalCounts> counts(designs.size());
  for (uint64_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < designs.size(); ++i) {
      const size_t index = (round + i) % designs.size();
      options.progress(phase, round * designs.size() + i, options.rounds * designs.size());
      if (cache == CacheState::kCold) STELE_RETURN_IF_ERROR(designs[index]->ReopenCold());
      STELE_ASSIGN_OR_RETURN(RoundResult measured, RunRound(*designs[index], workload, options,
                                                            &counts[index], &figures[index]));
      rounds[index].push_back(std::move(measured));
    }
  }
  for (size_t i = 0; i < designs.size(); ++i) AddRounds(rounds[i], counts[i], &figures[i]);
  return figures;
}

absl::Status FailedOperation(const ComparedDesign& design, const LogicalQuery& query,
                             const absl::Status& status) {
  return WithContext(status, fmt::format("{}, query {}", design.name(), EscapedBytes(query.name)));
}

}  // namespace stele::internal::lab
