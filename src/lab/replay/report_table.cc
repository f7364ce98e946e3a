#include "lab/replay/report_table.h"

#include "base/status.h"
#include "keys/printable.h"
#include "lab/figures/figures.h"
#include "lab/workload/replay_rate.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ReplayReport;

constexpr double kMegabyte = 1e6;

ReplayLine LineOf(std::string_view name, const ReplayReport::Operations& part,
                  std::chrono::nanoseconds time) {
  const stele::lab::LatencyHistogram& latencies = part.latencies;
  const auto whole = [&](uint64_t count) { return fmt::format("{:.0f}", PerSecond(count, time)); };
  const auto percentile = [&](double of) {
    return fmt::format("{}", Micros(latencies.ValueAtPercentile(of)));
  };
  return {.name = EscapedBytes(name),
          .cells = {fmt::format("{}", part.operations), whole(part.operations), whole(part.rows),
                    whole(part.cells),
                    fmt::format("{:.1f}", PerSecond(part.value_bytes, time) / kMegabyte),
                    percentile(50), percentile(90), percentile(99), percentile(99.9),
                    fmt::format("{}", Micros(latencies.Max())),
                    fmt::format("{:.1f}", RoundedMicros(latencies.Mean()))}};
}

std::string WarmupText(const ReplayReport& report) {
  if (report.warmup_operations > 0)
    return fmt::format(", after {} operation{} of warm-up", report.warmup_operations,
                       report.warmup_operations == 1 ? "" : "s");
  if (report.warmup.count() > 0)
    return fmt::format(", after {:g} s of warm-up", SecondsOf(report.warmup));
  return "";
}

std::string LoopText(const ReplayReport& report, const ReplayReport::Operations& all) {
  if (!report.rate.is_open_loop()) return "";
  std::string text = fmt::format("late by more than 1 ms: {}; p99 of the calls alone: {} us\n",
                                 all.late, Micros(all.service_times.ValueAtPercentile(99)));
  if (report.fell_behind()) {
    text += fmt::format("the rate was not sustained: {:.0f}/s were due, {:.0f}/s were reached\n",
                        PerSecond(all.operations, report.scheduled),
                        PerSecond(all.operations, report.time));
  }
  return text;
}

}  // namespace

ReplayTable MakeReplayTable(const ReplayReport& report) {
  ReplayTable table;
  table.head = fmt::format(
      "machine   {}\ndatabase  {}\ntrace     {}{}\nrun       {}, {} thread{}, seed {}{}\n",
      Machine(), EscapedBytes(report.location), EscapedBytes(report.trace),
      report.sample > 1 ? fmt::format(", with one operation in {}", report.sample) : "",
      ReplayRateText(report.rate), report.threads, report.threads == 1 ? "" : "s", report.seed,
      WarmupText(report));
  for (const auto& [name, part] : report.operations)
    table.lines.push_back(LineOf(name, part, report.time));
  const ReplayReport::Operations all = report.Sum();
  table.lines.push_back(LineOf(kAllOperations, all, report.time));
  table.notes =
      fmt::format("{:.3f} s, {:.3f} s of CPU\n", SecondsOf(report.time), report.cpu_seconds);
  table.notes += LoopText(report, all);
  if (!report.end.ok())
    table.notes += fmt::format("ended early: {}\n", EscapedMessage(ToStd(report.end.message())));
  if (!report.is_trace_complete)
    table.notes +=
        fmt::format("the recording was cut off before its end; operations that were read: {}\n",
                    report.trace_operations);
  if (all.operations == 0 && !WarmupText(report).empty())
    table.notes += "no operation was measured: the warm-up did not end before the trace\n";
  for (const auto& [why, count] : report.skipped_operations)
    table.notes += fmt::format("not replayed: {} ({})\n", count, why);
  for (const auto& [code, count] : report.errors)
    table.notes += fmt::format("errors: {} {}\n", count, code);
  if (!report.first_error.empty())
    table.notes += fmt::format("the first error: {}\n", EscapedMessage(report.first_error));
  return table;
}

}  // namespace stele::internal::lab
