// replay/replay.cc: the call that replays a trace.
#include "stele/lab/replay.h"

#include "base/status.h"
#include "lab/replay/operation_source.h"
#include "lab/replay/runner.h"
#include "lab/workload/replay_rate.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

constexpr uint64_t kReplayThreadsMax = 256;

absl::Status CheckReplayOptions(const ReplayOptions& options) {
  if (options.threads == 0 || options.threads > kReplayThreadsMax)
    return internal::InvalidArgument("ReplayOptions::threads is {}, and must be from 1 to {}",
                                     options.threads, kReplayThreadsMax);
  if (!internal::lab::IsValid(options.rate))
    return internal::InvalidArgument(
        "ReplayOptions::rate must have at most one member, a finite number above 0");
  if (!options.design.has_value() && !options.design_table.empty())
    return internal::InvalidArgument(
        "ReplayOptions::design_table is the table of a design, and there is no design; use tables "
        "for a recorded trace");
  if (options.design.has_value() && options.skips_bad)
    return internal::InvalidArgument(
        "ReplayOptions::skips_bad is for recorded traces: a logical trace is read as a whole");
  return absl::OkStatus();
}

// The error for a trace without an operation, and why it has none.
absl::Status EmptyTrace(const ReplayReport& report) {
  if (report.skipped_lines > 0)
    return internal::NotFound("the trace has no operation; wrong lines and damaged blocks: {}",
                              report.skipped_lines);
  if (!report.is_trace_complete)
    return internal::NotFound(
        "the trace has no operation: its recording did not end normally, or still runs, and it has "
        "no complete block");
  return internal::NotFound("the trace has no operation");
}

}  // namespace

absl::StatusOr<ReplayReport> Replay(const Database& database, const std::string& trace_path,
                                    const ReplayOptions& options) {
  STELE_RETURN_IF_ERROR(CheckReplayOptions(options));
  const auto source = internal::lab::OpenSource(trace_path, options, database);
  ReplayReport report;
  report.location = options.location;
  report.trace = trace_path;
  report.rate = options.rate;
  report.threads = options.threads;
  report.seed = options.seed;
  report.warmup_operations = options.warmup_operations;
  report.warmup = options.warmup;
  // A stop while the trace is read is no error.
  if (internal::lab::IsReplayStopped(options, source.status())) {
    report.end = internal::lab::ReplayStopped();
    return report;
  }
  STELE_RETURN_IF_ERROR(source.status());
  STELE_RETURN_IF_ERROR(internal::lab::RunReplay(options, **source, &report));
  report.trace_operations = (*source)->read();
  report.is_trace_complete = (*source)->is_complete();
  if (report.end.ok() && report.trace_operations == 0)
    return internal::WithContext(EmptyTrace(report), trace_path);
  return report;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
