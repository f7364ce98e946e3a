#include "lab/compare/run_comparison.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/compare/comparison_trace.h"
#include "lab/compare/estimate.h"
#include "lab/compare/rounds.h"
#include "stele/lab/heat_map.h"
#include "stele/lab/lint.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareCaches;
using stele::lab::CompareOptions;
using stele::lab::CompareReport;
using stele::lab::HeatMap;

constexpr size_t kDifferencesMax = 3;
constexpr uint32_t kMapBandsMax = 1000;
constexpr int64_t kMicrosPerOperation = 1000;  // in the trace, without a logical one
constexpr uint64_t kOperationsPerProgress = 64;

absl::Status CompareStopped() { return Cancelled("the comparison was stopped"); }

void Add(const OperationResult& result, CompareReport::QueryFigures* sum) {
  ++sum->operations;
  sum->requests += result.requests;
  sum->scans += result.scans;
  sum->point_rows += result.point_rows;
  sum->scanned_rows += result.scanned_rows;
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
  CountingRun(const ComparedDesign& design, const LogicalWorkload& workload,
              const CompareOptions& options)
      : design_(design), workload_(workload), options_(options) {}

  absl::Status Run(const std::string& trace_path, CompareReport::DesignFigures* result) {
    result->name = design_.name();
    result->table = design_.table_name();
    result->data = design_.figures();
    result->queries.resize(workload_.queries.size());
    for (size_t i = 0; i < workload_.queries.size(); ++i)
      result->queries[i].declares_answer = design_.has_answer(i);
    std::ofstream trace(trace_path, std::ios::binary);
    if (!trace) return ErrnoStatus("open", trace_path, errno);
    const size_t count = workload_.operations.size();
    for (size_t i = 0; i < count; ++i) {
      if (options_.stop.stop_requested()) return CompareStopped();
      const LogicalOperation& operation = workload_.operations[i];
      const int64_t micros =
          workload_.has_times ? operation.micros : static_cast<int64_t>(i) * kMicrosPerOperation;
      const auto done = RunOne(operation, micros, &trace);
      if (!done.ok())
        return FailedOperation(design_, workload_.queries[operation.query], done.status());
      Add(*done, &result->queries[operation.query]);
      answers_.push_back({done->answer_hash, done->answer_values});
      if (i % kOperationsPerProgress == 0)
        options_.progress("counting " + design_.name(), i, count);
    }
    trace.close();
    return trace ? absl::OkStatus() : ErrnoStatus("write", trace_path, errno);
  }

  // Returns the answer of each operation.
  std::vector<Answer> TakeAnswers() { return std::move(answers_); }

 private:
  absl::StatusOr<OperationResult> RunOne(const LogicalOperation& operation, int64_t micros,
                                         std::ofstream* trace) const {
    STELE_ASSIGN_OR_RETURN(const PreparedOperation prepared, design_.Prepare(operation));
    OperationResult result;
    STELE_RETURN_IF_ERROR(design_.Run(operation, prepared, &result));
    if (options_.estimate.has_value())
      STELE_RETURN_IF_ERROR(design_.CountScannedRows(prepared, &result));
    *trace << ComparisonTraceLines(design_.table_name(), prepared, result, micros);
    return result;
  }

  const ComparedDesign& design_;
  const LogicalWorkload& workload_;
  const CompareOptions& options_;
  std::vector<Answer> answers_;
};

// Returns the step of a page's heat map; 0 if the heat map chooses it from the times of the trace.
// Returns nullopt if there is no page.
std::optional<std::chrono::microseconds> PageStep(const CompareOptions& options,
                                                  const LogicalWorkload& workload) {
  constexpr size_t kStepsMax = 100;
  if (!options.makes_page) return std::nullopt;
  if (workload.has_times) return std::chrono::microseconds(0);
  const size_t operations_per_step = (workload.operations.size() + kStepsMax - 1) / kStepsMax;
  return std::chrono::microseconds(static_cast<int64_t>(operations_per_step) * kMicrosPerOperation);
}

// Adds the heat maps of the trace, and the findings of the advisor about it.
absl::Status AddLoadAndFindings(const ComparedDesign& design, const std::string& trace_path,
                                std::optional<std::chrono::microseconds> page_step,
                                CompareReport::DesignFigures* result) {
  const stele::lab::HeatMapInput input{.trace_paths = {trace_path}, .database = design.database()};
  STELE_ASSIGN_OR_RETURN(
      stele::lab::HeatMaps maps,
      HeatMap::Build(input, {.table = design.table_name(), .bands = kMapBandsMax}));
  result->heat_map = std::move(maps.maps[0]);
  if (page_step.has_value()) {
    STELE_ASSIGN_OR_RETURN(
        stele::lab::HeatMaps page_maps,
        HeatMap::Build(input, {.table = design.table_name(), .step = *page_step}));
    result->page_heat_map = std::move(page_maps.maps[0]);
  }
  const HeatMap& map = *result->heat_map;
  double hottest = 0;
  for (size_t band = 0; band < map.parts().bands.size(); ++band) {
    double operations = 0;
    for (uint64_t step = 0; step < map.parts().steps; ++step)
      operations += map.At(stele::lab::HeatMetric::kOps, band, step);
    hottest = std::max(hottest, operations);
  }
  uint64_t requests = 0;
  for (const CompareReport::QueryFigures& query : result->queries) requests += query.requests;
  result->hottest_band_share = hottest / static_cast<double>(std::max<uint64_t>(requests, 1));
  STELE_ASSIGN_OR_RETURN(const stele::lab::LintReport report,
                         stele::lab::Lint({.database = design.database(),
                                           .tables = {design.table_name()},
                                           .trace_paths = {trace_path}}));
  for (const stele::lab::LintFinding& finding : report.findings)
    if (!finding.is_suppressed) result->findings.emplace(finding.id, finding.severity);
  return absl::OkStatus();
}

// Runs all operations once after a start with a cold cache, and counts the bytes that they read
// from files.
absl::Status CountColdReads(ComparedDesign& design, const LogicalWorkload& workload,
                            const CompareOptions& options, CompareReport::DesignFigures* result) {
  STELE_RETURN_IF_ERROR(design.ReopenCold());
  const size_t count = workload.operations.size();
  for (size_t i = 0; i < count; ++i) {
    if (options.stop.stop_requested()) return CompareStopped();
    const LogicalOperation& operation = workload.operations[i];
    const auto prepared = design.Prepare(operation);
    OperationResult counted;
    const absl::Status status =
        prepared.ok() ? design.Run(operation, *prepared, &counted) : prepared.status();
    if (!status.ok()) return FailedOperation(design, workload.queries[operation.query], status);
    result->queries[operation.query].cold_bytes_read += counted.stats.bytes_read;
    if (i % kOperationsPerProgress == 0)
      options.progress("counting, cold " + design.name(), i, count);
  }
  return absl::OkStatus();
}

// Rows of scans have the mean size of a row, and writes that of a record as it was loaded: readers
// may see fewer of its cells.
LoadCounts LoadCountsOf(const CompareReport::DesignFigures& design,
                        const LogicalWorkload& workload) {
  const CompareReport::TableFigures& figures = design.data;
  const double row_bytes = static_cast<double>(figures.logical_bytes()) /
                           static_cast<double>(std::max<uint64_t>(figures.rows, 1));
  const uint64_t record_bytes =
      figures.loaded_logical_bytes / std::max<uint64_t>(figures.records, 1);
  LoadCounts counts{.operations = workload.operations.size(), .table_bytes = figures.disk_bytes};
  for (size_t i = 0; i < design.queries.size(); ++i) {
    const CompareReport::QueryFigures& totals = design.queries[i];
    if (!workload.queries[i].input.empty()) {
      counts.written_rows += totals.requests * std::max<uint64_t>(1, RowUnits(record_bytes));
    } else if (totals.scans == 0) {
      counts.point_rows += totals.point_rows;
    } else {
      counts.scans += totals.scans;
      const double scanned_bytes = static_cast<double>(totals.scanned_rows) * row_bytes;
      counts.scanned_bytes += std::max(totals.bytes_returned, static_cast<uint64_t>(scanned_bytes));
    }
  }
  return counts;
}

void AddEstimates(const LogicalWorkload& workload, const stele::lab::EstimateSettings& settings,
                  CompareReport* result) {
  result->estimate_rate = settings.operations_per_second.value_or(
      workload.recorded_rate.value_or(kEstimateRateDefault));
  for (CompareReport::DesignFigures& design : result->designs)
    design.estimate = EstimateOf(settings, result->estimate_rate, LoadCountsOf(design, workload));
}

void CompareAnswers(const LogicalWorkload& workload,
                    const std::vector<std::vector<Answer>>& answers, CompareReport* result) {
  for (size_t i = 0; i < workload.operations.size(); ++i) {
    const LogicalOperation& operation = workload.operations[i];
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
    ++result->queries[operation.query].differing_operations;
    if (result->differences.size() >= kDifferencesMax) continue;
    CompareReport::AnswerDifference difference{
        .query = operation.query,
        .record = workload.queries[operation.query].records[operation.record],
        .values = {}};
    for (const auto& each : answers) difference.values.push_back(each[i].values);
    result->differences.push_back(std::move(difference));
  }
}

}  // namespace

absl::Status RunComparison(const ComparedDesigns& designs, const LogicalWorkload& workload,
                           const CompareOptions& options, CompareReport* report) {
  std::vector<std::vector<Answer>> answers;
  for (const auto& design : designs) {
    const std::string trace_path =
        fmt::format("{}/{}.trace.jsonl", options.work_directory, design->name());
    CountingRun run(*design, workload, options);
    STELE_RETURN_IF_ERROR(run.Run(trace_path, &report->designs.emplace_back()));
    answers.push_back(run.TakeAnswers());
    STELE_RETURN_IF_ERROR(AddLoadAndFindings(*design, trace_path, PageStep(options, workload),
                                             &report->designs.back()));
  }
  CompareAnswers(workload, answers, report);
  if (options.caches != CompareCaches::kCold) {
    STELE_ASSIGN_OR_RETURN(auto warm, RunRounds(designs, workload, options, CacheState::kWarm));
    for (size_t i = 0; i < designs.size(); ++i) report->designs[i].warm = std::move(warm[i]);
  }
  if (options.caches != CompareCaches::kWarm) {
    for (size_t i = 0; i < designs.size(); ++i)
      STELE_RETURN_IF_ERROR(CountColdReads(*designs[i], workload, options, &report->designs[i]));
    STELE_ASSIGN_OR_RETURN(auto cold, RunRounds(designs, workload, options, CacheState::kCold));
    for (size_t i = 0; i < designs.size(); ++i) report->designs[i].cold = std::move(cold[i]);
  }
  if (options.estimate.has_value()) AddEstimates(workload, *options.estimate, report);
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
