#include "compare/rounds.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/status.h"
#include "bench/figures.h"
#include "bench/random.h"
#include "key_bytes.h"
#include "session.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLateAfter(1);

// One thread of a round.
class RoundThread {
 public:
  RoundThread(const ComparedDesign& design, const LogicalWorkload& workload, const Pace& pace,
              uint64_t thread, uint64_t threads)
      : design_(design),
        workload_(workload),
        pace_(pace),
        thread_(thread),
        threads_(threads),
        latencies_(workload.queries.size()) {}

  void Run(SteadyClock::time_point start) {
    for (size_t i = 0; i < workload_.operations.size(); ++i) {
      const LogicalOperation& operation = workload_.operations[i];
      if (threads_ > 1 && Fnv1a(operation.record) % threads_ != thread_) continue;
      status_ = Measure(operation, start + pace_.DueAfter(i, operation.micros));
      if (!status_.ok()) return;
    }
  }

  const absl::Status& status() const { return status_; }
  const std::vector<lab::LatencyHistogram>& latencies() const { return latencies_; }
  uint64_t late() const { return late_; }

 private:
  absl::Status Measure(const LogicalOperation& operation, SteadyClock::time_point due) {
    const LogicalQuery& query = workload_.queries[operation.query];
    const auto prepared = design_.Prepare(operation);
    if (!prepared.ok()) return FailedOperation(design_, query, prepared.status());
    if (pace_.is_open_loop()) std::this_thread::sleep_until(due);
    const SteadyClock::time_point begin = SteadyClock::now();
    if (!pace_.is_open_loop()) due = begin;
    if (begin - due > kLateAfter) ++late_;
    const absl::Status status = design_.Run(operation, *prepared, nullptr);
    const auto time = SteadyClock::now() - due;
    if (!status.ok()) return FailedOperation(design_, query, status);
    latencies_[operation.query].Record(static_cast<uint64_t>(time.count()));
    return absl::OkStatus();
  }

  const ComparedDesign& design_;
  const LogicalWorkload& workload_;
  const Pace& pace_;
  const uint64_t thread_;
  const uint64_t threads_;
  absl::Status status_;
  std::vector<lab::LatencyHistogram> latencies_;  // by query
  uint64_t late_ = 0;
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

// Adds the latencies of the round to those of all rounds.
absl::StatusOr<RoundResult> RunRound(const ComparedDesign& design, const LogicalWorkload& workload,
                                     const CompareOptions& options, TimedFigures* figures) {
  std::vector<RoundThread> parts;
  for (uint64_t i = 0; i < options.threads; ++i)
    parts.emplace_back(design, workload, options.pace, i, options.threads);
  const double cpu_before = CpuSeconds();
  const SteadyClock::time_point begin = SteadyClock::now();
  {
    std::vector<std::jthread> threads;
    try {
      for (RoundThread& part : parts) threads.emplace_back([&part, begin] { part.Run(begin); });
    } catch (const std::system_error& error) {
      return internal::ResourceExhausted(
          "thread {} of {} could not be started: {}; use fewer --threads", threads.size() + 1,
          options.threads, error.what());
    }
  }
  const auto time = SteadyClock::now() - begin;
  RoundResult round;
  round.cpu_seconds = CpuSeconds() - cpu_before;
  round.operations_per_second = PerSecond(workload.operations.size(), time);
  for (const RoundThread& part : parts) {
    STELE_RETURN_IF_ERROR(part.status());
    round.late += part.late();
  }
  for (size_t query = 0; query < workload.queries.size(); ++query) {
    lab::LatencyHistogram sum;
    for (const RoundThread& part : parts) sum.Add(part.latencies()[query]);
    round.latencies.push_back({.p50 = sum.ValueAtPercentile(50), .p99 = sum.ValueAtPercentile(99)});
    figures->queries[query].all_rounds.Add(sum);
  }
  return round;
}

Measured MeasuredOf(const std::vector<RoundResult>& rounds,
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

void AddRounds(const std::vector<RoundResult>& rounds, TimedFigures* figures) {
  figures->operations_per_second =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.operations_per_second; });
  figures->cpu_seconds =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.cpu_seconds; });
  figures->late =
      MeasuredOf(rounds, [](const RoundResult& round) { return static_cast<double>(round.late); });
  for (size_t query = 0; query < figures->queries.size(); ++query) {
    LatencyFigures& latency = figures->queries[query];
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

absl::StatusOr<std::vector<TimedFigures>> RunRounds(
    const std::vector<std::unique_ptr<ComparedDesign>>& designs, const LogicalWorkload& workload,
    const CompareOptions& options, CacheState cache, const CompareProgress& progress) {
  std::vector<TimedFigures> figures(designs.size());
  for (TimedFigures& each : figures) each.queries.resize(workload.queries.size());
  const std::string phase = cache == CacheState::kCold ? "measuring, cold" : "measuring";
  std::vector<std::vector<RoundResult>> rounds(designs.size());
  for (uint64_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < designs.size(); ++i) {
      const size_t index = (round + i) % designs.size();
      progress(phase, round * designs.size() + i, options.rounds * designs.size());
      if (cache == CacheState::kCold) STELE_RETURN_IF_ERROR(designs[index]->ReopenCold());
      STELE_ASSIGN_OR_RETURN(RoundResult measured,
                             RunRound(*designs[index], workload, options, &figures[index]));
      rounds[index].push_back(std::move(measured));
    }
  }
  for (size_t i = 0; i < designs.size(); ++i) AddRounds(rounds[i], &figures[i]);
  return figures;
}

absl::Status FailedOperation(const ComparedDesign& design, const LogicalQuery& query,
                             const absl::Status& status) {
  return Within(fmt::format("{}, query {}", design.name(), EscapedKey(query.name)), status);
}

}  // namespace stele::cli
