#include "compare/runner.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/status.h"
#include "bench/figures.h"
#include "bench/random.h"
#include "compare/trace_lines.h"
#include "key_bytes.h"
#include "session.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Designs = std::vector<std::unique_ptr<ComparedDesign>>;

constexpr size_t kDifferencesMax = 3;
constexpr uint32_t kBandsMax = 1000;
constexpr int64_t kMicrosPerOperation = 1000;  // in the trace
constexpr uint64_t kOperationsPerProgress = 64;

absl::Status Failed(const ComparedDesign& design, const CompareQuery& query,
                    const absl::Status& status) {
  return Within(fmt::format("{}, query {}", design.name(), EscapedKey(query.name)), status);
}

void Add(const OperationResult& result, OperationResult* sum) {
  sum->requests += result.requests;
  sum->stats.rows_seen += result.stats.rows_seen;
  sum->stats.rows_returned += result.stats.rows_returned;
  sum->stats.cells_seen += result.stats.cells_seen;
  sum->stats.cells_returned += result.stats.cells_returned;
  sum->stats.blocks += result.stats.blocks;
  sum->stats.bytes_read += result.stats.bytes_read;
  sum->bytes_returned += result.bytes_returned;
}

struct Answer {
  uint64_t hash = 0;
  uint64_t values = 0;
};

// Runs all operations once, and writes them to a trace.
class CountingRun {
 public:
  CountingRun(const ComparedDesign& design, const CompareWorkload& workload,
              const CompareProgress& progress)
      : design_(design), workload_(workload), progress_(progress) {}

  absl::Status Run(const std::string& trace_path, DesignResult* result) {
    result->name = design_.name();
    result->table = design_.table_name();
    result->table_figures = design_.figures();
    result->queries.resize(workload_.queries.size());
    for (size_t i = 0; i < workload_.queries.size(); ++i)
      result->queries[i].declares_answer = design_.has_answer(i);
    std::ofstream trace(trace_path, std::ios::binary);
    if (!trace) return internal::ErrnoStatus("open", trace_path, errno);
    const size_t count = workload_.operations.size();
    for (size_t i = 0; i < count; ++i) {
      const CompareOperation& operation = workload_.operations[i];
      const auto done = RunOne(operation, static_cast<int64_t>(i) * kMicrosPerOperation, &trace);
      if (!done.ok()) return Failed(design_, workload_.queries[operation.query], done.status());
      QueryResult& query = result->queries[operation.query];
      ++query.operations;
      Add(*done, &query.totals);
      answers_.push_back({done->answer_hash, done->answer_values});
      if (i % kOperationsPerProgress == 0) progress_("counting " + design_.name(), i, count);
    }
    trace.close();
    return trace ? absl::OkStatus() : internal::ErrnoStatus("write", trace_path, errno);
  }

  // Those of each operation.
  std::vector<Answer> TakeAnswers() { return std::move(answers_); }

 private:
  absl::StatusOr<OperationResult> RunOne(const CompareOperation& operation, int64_t micros,
                                         std::ofstream* trace) const {
    STELE_ASSIGN_OR_RETURN(const PreparedOperation prepared, design_.Prepare(operation));
    OperationResult result;
    STELE_RETURN_IF_ERROR(design_.Run(operation, prepared, &result));
    *trace << TraceLines(design_.table_name(), prepared, result, micros);
    return result;
  }

  const ComparedDesign& design_;
  const CompareWorkload& workload_;
  const CompareProgress& progress_;
  std::vector<Answer> answers_;
};

// Adds what the heat map and the advisor say about the trace.
absl::Status AddLoadAndFindings(const ComparedDesign& design, const std::string& trace_path,
                                DesignResult* result) {
  STELE_ASSIGN_OR_RETURN(
      lab::HeatMaps maps,
      lab::HeatMap::Build({.trace_paths = {trace_path}, .database = design.database()},
                          {.table = design.table_name(), .bands = kBandsMax}));
  result->maps = std::move(maps.maps);
  const lab::HeatMap& map = result->maps[0];
  double hottest = 0;
  for (size_t band = 0; band < map.parts().bands.size(); ++band) {
    double operations = 0;
    for (uint64_t step = 0; step < map.parts().steps; ++step)
      operations += map.At(lab::HeatMetric::kOps, band, step);
    hottest = std::max(hottest, operations);
  }
  uint64_t requests = 0;
  for (const QueryResult& query : result->queries) requests += query.totals.requests;
  result->busiest_range_share = hottest / static_cast<double>(std::max<uint64_t>(requests, 1));
  STELE_ASSIGN_OR_RETURN(const lab::LintReport report, lab::Lint({.database = design.database(),
                                                                  .tables = {design.table_name()},
                                                                  .trace_paths = {trace_path}}));
  for (const lab::LintFinding& finding : report.findings)
    if (!finding.is_suppressed) result->findings.emplace(finding.id, finding.severity);
  return absl::OkStatus();
}

// One thread of a round. Operations with the same record belong to the same thread.
class RoundThread {
 public:
  RoundThread(const ComparedDesign& design, const CompareWorkload& workload, uint64_t thread,
              uint64_t threads)
      : design_(design),
        workload_(workload),
        thread_(thread),
        threads_(threads),
        latencies_(workload.queries.size()) {}

  void Run() {
    for (const CompareOperation& operation : workload_.operations) {
      if (threads_ > 1 && Fnv1a(operation.record) % threads_ != thread_) continue;
      status_ = Measure(operation);
      if (!status_.ok()) return;
    }
  }

  const absl::Status& status() const { return status_; }
  const std::vector<LatencyHistogram>& latencies() const { return latencies_; }

 private:
  absl::Status Measure(const CompareOperation& operation) {
    const CompareQuery& query = workload_.queries[operation.query];
    const auto prepared = design_.Prepare(operation);
    if (!prepared.ok()) return Failed(design_, query, prepared.status());
    const SteadyClock::time_point begin = SteadyClock::now();
    const absl::Status status = design_.Run(operation, *prepared, nullptr);
    const auto time = SteadyClock::now() - begin;
    if (!status.ok()) return Failed(design_, query, status);
    latencies_[operation.query].Record(static_cast<uint64_t>(time.count()));
    return absl::OkStatus();
  }

  const ComparedDesign& design_;
  const CompareWorkload& workload_;
  const uint64_t thread_;
  const uint64_t threads_;
  absl::Status status_;
  std::vector<LatencyHistogram> latencies_;  // by query
};

struct RoundLatency {
  uint64_t p50 = 0;
  uint64_t p99 = 0;
  uint64_t max = 0;
};

struct RoundResult {
  std::vector<RoundLatency> latencies;  // by query
  double operations_per_second = 0;
  double cpu_seconds = 0;
};

absl::StatusOr<RoundResult> RunRound(const ComparedDesign& design, const CompareWorkload& workload,
                                     uint64_t thread_count) {
  std::vector<RoundThread> parts;
  for (uint64_t i = 0; i < thread_count; ++i) parts.emplace_back(design, workload, i, thread_count);
  const double cpu_before = CpuSeconds();
  const SteadyClock::time_point begin = SteadyClock::now();
  {
    std::vector<std::jthread> threads;
    try {
      for (RoundThread& part : parts) threads.emplace_back([&part] { part.Run(); });
    } catch (const std::system_error& error) {
      return internal::ResourceExhausted(
          "thread {} of {} could not be started: {}; use fewer --threads", threads.size() + 1,
          thread_count, error.what());
    }
  }
  const auto time = SteadyClock::now() - begin;
  RoundResult round;
  round.cpu_seconds = CpuSeconds() - cpu_before;
  round.operations_per_second = PerSecond(workload.operations.size(), time);
  for (const RoundThread& part : parts) STELE_RETURN_IF_ERROR(part.status());
  for (size_t query = 0; query < workload.queries.size(); ++query) {
    LatencyHistogram sum;
    for (const RoundThread& part : parts) sum.Add(part.latencies()[query]);
    round.latencies.push_back(
        {.p50 = sum.ValueAtPercentile(50), .p99 = sum.ValueAtPercentile(99), .max = sum.Max()});
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

void AddRounds(const std::vector<RoundResult>& rounds, DesignResult* result) {
  result->operations_per_second =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.operations_per_second; });
  result->cpu_seconds =
      MeasuredOf(rounds, [](const RoundResult& round) { return round.cpu_seconds; });
  for (size_t query = 0; query < result->queries.size(); ++query) {
    LatencyFigures& latency = result->queries[query].latency;
    const auto measured = [&](uint64_t RoundLatency::*member) {
      return MeasuredOf(rounds, [&](const RoundResult& round) {
        return static_cast<double>(round.latencies[query].*member);
      });
    };
    latency.p50 = measured(&RoundLatency::p50);
    latency.p99 = measured(&RoundLatency::p99);
    for (const RoundResult& round : rounds)
      latency.max = std::max(latency.max, round.latencies[query].max);
  }
}

void CompareAnswers(const CompareWorkload& workload,
                    const std::vector<std::vector<Answer>>& answers, CompareResult* result) {
  result->different_answers.resize(workload.queries.size());
  for (size_t i = 0; i < workload.operations.size(); ++i) {
    const CompareOperation& operation = workload.operations[i];
    const bool is_declared = std::all_of(
        result->designs.begin(), result->designs.end(),
        [&](const auto& design) { return design.queries[operation.query].declares_answer; });
    if (!is_declared) continue;
    ++result->answers_compared;
    const bool is_empty = std::all_of(answers.begin(), answers.end(),
                                      [&](const auto& each) { return each[i].values == 0; });
    if (is_empty) ++result->answers_empty;
    const bool is_equal = std::all_of(answers.begin(), answers.end(), [&](const auto& each) {
      return each[i].hash == answers[0][i].hash && each[i].values == answers[0][i].values;
    });
    if (is_equal) {
      ++result->answers_equal;
      continue;
    }
    ++result->different_answers[operation.query];
    if (result->differences.size() >= kDifferencesMax) continue;
    AnswerDifference difference{
        .query = operation.query,
        .record = workload.queries[operation.query].records[operation.record],
        .values = {}};
    for (const auto& each : answers) difference.values.push_back(each[i].values);
    result->differences.push_back(std::move(difference));
  }
}

}  // namespace

absl::StatusOr<CompareResult> Compare(const Designs& designs, const CompareWorkload& workload,
                                      const CompareOptions& options, const std::string& directory,
                                      const CompareProgress& progress) {
  CompareResult result;
  std::vector<std::vector<Answer>> answers;
  for (const auto& design : designs) {
    const std::string trace_path = fmt::format("{}/{}.trace.jsonl", directory, design->name());
    CountingRun run(*design, workload, progress);
    STELE_RETURN_IF_ERROR(run.Run(trace_path, &result.designs.emplace_back()));
    answers.push_back(run.TakeAnswers());
    STELE_RETURN_IF_ERROR(AddLoadAndFindings(*design, trace_path, &result.designs.back()));
  }
  CompareAnswers(workload, answers, &result);
  std::vector<std::vector<RoundResult>> rounds(designs.size());
  for (uint64_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < designs.size(); ++i) {
      const size_t index = (round + i) % designs.size();
      progress("measuring", round * designs.size() + i, options.rounds * designs.size());
      STELE_ASSIGN_OR_RETURN(RoundResult measured,
                             RunRound(*designs[index], workload, options.threads));
      rounds[index].push_back(std::move(measured));
    }
  }
  for (size_t i = 0; i < designs.size(); ++i) AddRounds(rounds[i], &result.designs[i]);
  return result;
}

}  // namespace stele::cli
