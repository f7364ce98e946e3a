#include "replay/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "bench/figures.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMegabyte = 1e6;
constexpr std::string_view kAllOperations = "all";
constexpr size_t kNameWidthMin = 6;

ReplayLine LineOf(std::string_view name, const ReplayPart& part, std::chrono::nanoseconds time) {
  const lab::LatencyHistogram& latencies = part.latencies;
  const auto whole = [&](uint64_t count) { return fmt::format("{:.0f}", PerSecond(count, time)); };
  const auto percentile = [&](double of) {
    return fmt::format("{}", Micros(latencies.ValueAtPercentile(of)));
  };
  return {.name = EscapedKey(name),
          .cells = {fmt::format("{}", part.counts.operations), whole(part.counts.operations),
                    whole(part.counts.rows), whole(part.counts.cells),
                    fmt::format("{:.1f}", PerSecond(part.counts.value_bytes, time) / kMegabyte),
                    percentile(50), percentile(90), percentile(99), percentile(99.9),
                    fmt::format("{}", Micros(latencies.Max())),
                    fmt::format("{:.1f}", RoundedMicros(latencies.Mean()))}};
}

Json JsonOf(std::string_view name, const ReplayPart& part, std::chrono::nanoseconds time,
            bool is_open_loop) {
  Json line = {{"op", name},
               {"operations", part.counts.operations},
               {"operations_per_second", Rounded(PerSecond(part.counts.operations, time))},
               {"rows", part.counts.rows},
               {"cells", part.counts.cells},
               {"value_bytes", part.counts.value_bytes},
               {"bytes_read", part.counts.bytes_read},
               {"latency_us", HistogramJson(part.latencies)}};
  if (is_open_loop) {
    line["service_time_us"] = HistogramJson(part.service_times);
    line["late"] = part.counts.late;
  }
  return line;
}

std::string WarmupText(const ReplayOptions& options) {
  if (options.warmup_operations > 0)
    return fmt::format(", after {} operations of warm-up", options.warmup_operations);
  if (options.warmup.count() > 0)
    return fmt::format(", after {:g} s of warm-up", SecondsOf(options.warmup));
  return "";
}

// True if an open loop ended late: by more than 5 % of its scheduled time and 100 ms.
bool FellBehind(const ReplayOptions& options, const ReplayResult& result) {
  constexpr std::chrono::milliseconds kSlack(100);
  return options.pace.is_open_loop() && result.lag > result.scheduled / 20 + kSlack;
}

std::string LoopText(const ReplayOptions& options, const ReplayResult& result,
                     const ReplayPart& all) {
  if (!options.pace.is_open_loop()) return "";
  std::string text = fmt::format("late by more than 1 ms: {}; p99 of the calls alone: {} us\n",
                                 all.counts.late, Micros(all.service_times.ValueAtPercentile(99)));
  if (FellBehind(options, result)) {
    text += fmt::format("the rate was not sustained: {:.0f}/s were due, {:.0f}/s were reached\n",
                        PerSecond(all.counts.operations, result.scheduled),
                        PerSecond(all.counts.operations, result.time));
  }
  return text;
}

}  // namespace

ReplayReport MakeReplayReport(const ReplayOptions& options, const ReplayResult& result,
                              const std::string& location) {
  ReplayReport report;
  report.head = fmt::format(
      "machine   {}\ndatabase  {}\ntrace     {}{}\nrun       {}, {} threads, seed {}{}\n",
      Machine(), EscapedKey(location), EscapedKey(options.trace_path),
      result.sample > 1 ? fmt::format(", with one operation in {}", result.sample) : "",
      options.pace.Text(), options.threads, options.seed, WarmupText(options));
  for (const auto& [name, part] : result.parts)
    report.lines.push_back(LineOf(name, part, result.time));
  const ReplayPart all = result.Sum();
  report.lines.push_back(LineOf(kAllOperations, all, result.time));
  report.notes =
      fmt::format("{:.3f} s, {:.3f} s of CPU\n", SecondsOf(result.time), result.cpu_seconds);
  report.notes += LoopText(options, result, all);
  if (all.counts.operations == 0 && !WarmupText(options).empty())
    report.notes += "no operation was measured: the warm-up did not end before the trace\n";
  for (const auto& [why, count] : result.skipped)
    report.notes += fmt::format("not replayed: {} ({})\n", count, why);
  for (const auto& [code, count] : result.errors)
    report.notes += fmt::format("errors: {} {}\n", count, code);
  if (!result.first_error.empty())
    report.notes += fmt::format("the first error: {}\n", internal::Printable(result.first_error));
  return report;
}

std::string ReplayText(const ReplayReport& report) {
  size_t name_width = kNameWidthMin;
  for (const ReplayLine& line : report.lines) name_width = std::max(name_width, line.name.size());
  std::string text = report.head + fmt::format("\n{:<{}}", "op", name_width);
  for (const ReplayColumn& column : kReplayColumns)
    text += fmt::format(" {:>{}}", column.name, column.width);
  text += '\n';
  for (const ReplayLine& line : report.lines) {
    text += fmt::format("{:<{}}", line.name, name_width);
    for (size_t i = 0; i < line.cells.size(); ++i)
      text += fmt::format(" {:>{}}", line.cells[i], kReplayColumns[i].width);
    text += '\n';
  }
  return text + "\n" + report.notes;
}

std::string ReplayJson(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location) {
  Json run = {{"location", location},
              {"trace", options.trace_path},
              {"sample", result.sample},
              {"loop", options.pace.Text()},
              {"threads", options.threads},
              {"seed", options.seed},
              {"seconds", SecondsOf(result.time)},
              {"cpu_seconds", result.cpu_seconds},
              {"skipped", Json::object()},
              {"skipped_lines", result.skipped_lines},
              {"errors", result.errors},
              {"version", STELE_VERSION},
              {"machine", Machine()}};
  for (const auto& [why, count] : result.skipped) run["skipped"][std::string(why)] = count;
  if (options.pace.is_open_loop()) run["rate_was_sustained"] = !FellBehind(options, result);
  const auto line = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  std::string text = line({{"run", std::move(run)}});
  for (const auto& [name, part] : result.parts)
    text += line(JsonOf(name, part, result.time, options.pace.is_open_loop()));
  return text +
         line(JsonOf(kAllOperations, result.Sum(), result.time, options.pace.is_open_loop()));
}

}  // namespace stele::cli
