#include "replay/report.h"

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "bench/figures.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6;
constexpr std::string_view kAll = "all";

std::string TextLine(std::string_view name, const ReplayPart& part, std::chrono::nanoseconds time) {
  const LatencyHistogram& latencies = part.latencies;
  return fmt::format(
      "{:<6} {:>10} {:>9.0f} {:>10.0f} {:>10.0f} {:>7.1f} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8.1f}\n",
      name, part.counts.operations, PerSecond(part.counts.operations, time),
      PerSecond(part.counts.rows, time), PerSecond(part.counts.cells, time),
      PerSecond(part.counts.value_bytes, time) / kMega, Micros(latencies.ValueAtPercentile(50)),
      Micros(latencies.ValueAtPercentile(90)), Micros(latencies.ValueAtPercentile(99)),
      Micros(latencies.ValueAtPercentile(99.9)), Micros(latencies.Max()),
      RoundedMicros(latencies.Mean()));
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

// True if a thread was noticeably behind at its end.
bool FellBehind(const ReplayOptions& options, const ReplayResult& result) {
  constexpr std::chrono::milliseconds kSlack(100);
  return options.is_open_loop() && result.lag > result.scheduled / 20 + kSlack;
}

std::string LoopText(const ReplayOptions& options, const ReplayResult& result,
                     const ReplayPart& all) {
  if (!options.is_open_loop()) return "";
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

std::string ReplayText(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location) {
  std::string text = fmt::format(
      "machine   {}\ndatabase  {}\ntrace     {}{}\nrun       {}, {} threads, seed {}{}\n\n"
      "{:<6} {:>10} {:>9} {:>10} {:>10} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n",
      Machine(), EscapedKey(location), EscapedKey(options.trace_path),
      result.sample > 1 ? fmt::format(", with one operation in {}", result.sample) : "",
      options.PaceText(), options.threads, options.seed, WarmupText(options), "op", "operations",
      "ops/s", "rows/s", "cells/s", "MB/s", "p50 us", "p90 us", "p99 us", "p99.9 us", "max us",
      "mean us");
  for (const auto& [name, part] : result.parts) text += TextLine(name, part, result.time);
  const ReplayPart all = result.Sum();
  text += TextLine(kAll, all, result.time);
  text += fmt::format("\n{:.3f} s, {:.3f} s of CPU\n", SecondsOf(result.time), result.cpu_seconds);
  text += LoopText(options, result, all);
  for (const auto& [why, count] : result.skipped)
    text += fmt::format("not replayed: {} ({})\n", count, why);
  for (const auto& [code, count] : result.errors)
    text += fmt::format("errors: {} {}\n", count, code);
  if (!result.first_error.empty())
    text += fmt::format("the first error: {}\n", internal::Printable(result.first_error));
  return text;
}

std::string ReplayJson(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location) {
  Json run = {{"location", location},
              {"trace", options.trace_path},
              {"sample", result.sample},
              {"loop", options.PaceText()},
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
  if (options.is_open_loop()) run["rate_was_sustained"] = !FellBehind(options, result);
  const auto line = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  std::string text = line({{"run", std::move(run)}});
  for (const auto& [name, part] : result.parts)
    text += line(JsonOf(name, part, result.time, options.is_open_loop()));
  return text + line(JsonOf(kAll, result.Sum(), result.time, options.is_open_loop()));
}

}  // namespace stele::cli
