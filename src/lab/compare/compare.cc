// compare/compare.cc: the call that compares designs.
#include "stele/lab/compare.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "io/output_file.h"
#include "keys/printable.h"
#include "lab/compare/compared_design.h"
#include "lab/compare/estimate.h"
#include "lab/compare/run_comparison.h"
#include "lab/compare/workload.h"
#include "lab/workload/logical_trace.h"
#include "lab/workload/replay_rate.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareOptions;
using stele::lab::CompareReport;

constexpr uint64_t kCompareThreadsMax = 256;
constexpr uint64_t kRoundsMax = 1000;

absl::Status CheckCount(std::string_view option, uint64_t count, uint64_t most) {
  if (count > 0 && count <= most) return absl::OkStatus();
  return InvalidArgument("CompareOptions::{} is {}, and must be from 1 to {}", option, count, most);
}

absl::Status CheckWorkDirectory(const std::string& path) {
  if (path.empty())
    return InvalidArgument("CompareOptions::work_directory must name an empty directory");
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) return ErrnoStatus("list the files of", path, error.value());
  if (entries == std::filesystem::directory_iterator()) return absl::OkStatus();
  return AlreadyExists("{} is not empty: use an empty directory for CompareOptions::work_directory",
                       Printable(path));
}

absl::Status CheckCompareOptions(const CompareOptions& options) {
  if (options.designs.size() < 2)
    return InvalidArgument("CompareOptions::designs has {} designs, and needs at least two",
                           options.designs.size());
  STELE_RETURN_IF_ERROR(CheckWorkDirectory(options.work_directory));
  STELE_RETURN_IF_ERROR(CheckCount("threads", options.threads, kCompareThreadsMax));
  STELE_RETURN_IF_ERROR(CheckCount("rounds", options.rounds, kRoundsMax));
  if (!IsValid(options.rate))
    return InvalidArgument(
        "CompareOptions::rate must have at most one member, a finite number above 0");
  if (options.estimate.has_value()) STELE_RETURN_IF_ERROR(CheckEstimateSettings(*options.estimate));
  if (!options.trace_path.empty()) return absl::OkStatus();
  if (options.rate.speed.has_value())
    return InvalidArgument(
        "CompareOptions::rate has the recorded times, and needs a trace: set trace_path");
  return CheckDrawing("CompareOptions", options.operations, options.distribution);
}

// Returns a report with the settings, the queries and the notes of the workload.
CompareReport BeginReport(const CompareOptions& options, const LogicalWorkload& workload) {
  CompareReport report;
  report.trace = options.trace_path;
  report.distribution = options.distribution;
  report.seed = options.seed;
  report.rate = options.rate;
  report.caches = options.caches;
  report.threads = options.threads;
  report.rounds = options.rounds;
  report.estimate = options.estimate;
  report.operations = workload.operations.size();
  report.has_times = workload.has_times;
  for (const LogicalQuery& query : workload.queries)
    report.queries.push_back({.name = query.name,
                              .written_input = query.input,
                              .unusable_records = query.unusable_records,
                              .first_unusable_record = query.first_unusable_record});
  report.notes = workload.notes;
  return report;
}

// CompareDesigns() after CheckCompareOptions. `options` have a time and a progress function.
absl::StatusOr<CompareReport> CompareChecked(const CompareOptions& options) {
  STELE_RETURN_IF_ERROR(CheckDesignNames(options.designs));
  STELE_ASSIGN_OR_RETURN(const auto choices,
                         ChooseTables(options.designs, options.table, "CompareOptions::table"));
  STELE_RETURN_IF_ERROR(CheckOutputsAreNotInputs(options.output_paths, {options.trace_path}));
  STELE_ASSIGN_OR_RETURN(const LogicalWorkload workload,
                         options.trace_path.empty()
                             ? MakeWorkload(choices, options)
                             : ReadLogicalTrace(options.trace_path, choices, options.stop));
  if (options.rate.speed.has_value() && !workload.has_times)
    return InvalidArgument("{} has no times: use another CompareOptions::rate",
                           Printable(options.trace_path));
  CompareReport report = BeginReport(options, workload);
  ComparedDesigns designs;
  for (const DesignTableChoice& choice : choices) {
    if (options.stop.stop_requested()) return Cancelled("the comparison was stopped");
    STELE_ASSIGN_OR_RETURN(auto design, ComparedDesign::Load(choice, workload, options));
    report.notes.insert(report.notes.end(), design->notes().begin(), design->notes().end());
    designs.push_back(std::move(design));
  }
  STELE_RETURN_IF_ERROR(RunComparison(designs, workload, options, &report));
  return report;
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<CompareReport> CompareDesigns(const CompareOptions& options) {
  STELE_RETURN_IF_ERROR(internal::lab::CheckCompareOptions(options));
  CompareOptions complete = options;
  if (!complete.time.has_value()) complete.time = Timestamp::From(std::chrono::system_clock::now());
  if (!complete.progress) complete.progress = [](std::string_view, uint64_t, uint64_t) {};
  absl::StatusOr<CompareReport> report = internal::lab::CompareChecked(complete);
  if (options.stop.stop_requested() && report.status().code() == absl::StatusCode::kCancelled)
    return internal::Cancelled("the comparison was stopped");
  return report;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
