#include "bench/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/figures.h"
#include "key_bytes.h"
#include "keys/hidden.h"
#include "keys/printable.h"
#include "lab_files.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6;

std::string LoopText(const BenchOptions& options) {
  return options.rate.has_value() ? fmt::format("open loop, {} operations/s", *options.rate)
                                  : "closed loop";
}

std::string EndText(const BenchOptions& options) {
  const std::string warmup = fmt::format("after {:g} s of warm-up", SecondsOf(options.warmup));
  return options.operation_count.has_value()
             ? fmt::format("{} operations {}", *options.operation_count, warmup)
             : fmt::format("{:g} s {}", SecondsOf(options.duration), warmup);
}

// "uniform", or "zipfian, theta 0.99 (ycsb-a, ycsb-b); uniform (get)" if the workloads differ.
std::string DistributionText(const BenchOptions& options) {
  std::vector<std::pair<std::string, std::string>> names;  // by distribution
  for (const Workload* const workload : options.workloads) {
    std::string text = ToText(DistributionOf(options.operations, *workload));
    const auto same = std::find_if(names.begin(), names.end(),
                                   [&](const auto& each) { return each.first == text; });
    if (same != names.end()) {
      same->second.append(", ").append(workload->name);
    } else {
      names.emplace_back(std::move(text), workload->name);
    }
  }
  if (names.empty()) return ToText(options.operations.distribution);
  if (names.size() == 1) return names[0].first;
  std::string all;
  for (const auto& [text, workloads] : names)
    all += fmt::format("{}{} ({})", all.empty() ? "" : "; ", text, workloads);
  return all;
}

Json ToJson(const LoadFigures& load) {
  return {{"rows", load.rows},
          {"cells", load.cells},
          {"seconds", SecondsOf(load.time)},
          {"rows_per_second", Rounded(PerSecond(load.rows, load.time))},
          {"mb_per_second", Rounded(PerSecond(load.value_bytes, load.time) / kMega)}};
}

std::string JsonHeader(const BenchOptions& options, const std::string& location,
                       const std::optional<LoadFigures>& load) {
  Json settings = {{"location", location},
                   {"table", options.table},
                   {"data", options.DataText()},
                   {"distribution", DistributionText(options)},
                   {"threads", options.operations.threads},
                   {"seed", options.operations.seed},
                   {"loop", LoopText(options)},
                   {"measured", EndText(options)},
                   {"version", STELE_VERSION},
                   {"machine", Machine()}};
  Json line = {{"run", std::move(settings)}};
  if (load.has_value()) line["load"] = ToJson(*load);
  return internal::EscapeHidden(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string JsonLine(const BenchOptions& options, const BenchResult& result,
                     std::optional<uint64_t> disk_bytes) {
  const BenchCounts& counts = result.counts;
  Json line = {{"workload", result.workload->name},
               {"operations", counts.operations},
               {"seconds", SecondsOf(result.time)},
               {"operations_per_second", Rounded(PerSecond(counts.operations, result.time))},
               {"rows", counts.rows},
               {"rows_per_second", Rounded(PerSecond(counts.rows, result.time))},
               {"cells", counts.cells},
               {"cells_per_second", Rounded(PerSecond(counts.cells, result.time))},
               {"value_bytes", counts.value_bytes},
               {"checksum", fmt::format("{:016x}", counts.checksum)},
               {"mb_per_second", Rounded(PerSecond(counts.value_bytes, result.time) / kMega)},
               {"latency_us", HistogramJson(result.latencies)},
               {"errors", result.errors},
               {"cpu_seconds", result.cpu_seconds}};
  if (options.rate.has_value()) {
    line["service_time_us"] = HistogramJson(result.service_times);
    line["late"] = counts.late;
    line["not_begun"] = counts.not_begun;
  }
  if (disk_bytes.has_value()) {
    line["bytes_read"] = counts.bytes_read;
    line["disk_bytes"] = *disk_bytes;
  }
  return internal::EscapeHidden(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

constexpr std::string_view kCsvHeader =
    "workload,operations,seconds,operations_per_second,rows_per_second,cells_per_second,"
    "mb_per_second,p50_us,p90_us,p99_us,p999_us,max_us,mean_us,errors,cpu_seconds,disk_bytes,"
    "bytes_read,late,not_begun,error_codes\n";

// Returns a cell of CSV. The name of a query may contain anything.
std::string CsvCell(std::string_view name) {
  const std::string text = EscapedKey(name);
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

// Returns a part of a file's name, or a tag: other bytes than letters, digits, '.', '_' and '-' as
// %NN.
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    plain += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return plain;
}

// The file of --hgrm of a workload or query: its name is a part of the file's if there are several.
std::string PercentilePath(const BenchOptions& options, std::string_view name) {
  std::string path = options.hgrm_path;
  if (path.empty() || std::max(options.workloads.size(), options.queries.size()) < 2) return path;
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool has_ending = dot != path.npos && (slash == path.npos || dot > slash);
  return path.insert(has_ending ? dot : path.size(), "." + PlainName(name));
}

uint64_t ErrorCount(const BenchResult& result) {
  uint64_t count = 0;
  for (const auto& [code, times] : result.errors) count += times;
  return count;
}

// "NOT_FOUND 2;UNAVAILABLE 1": one cell of CSV.
std::string ErrorCodes(const BenchResult& result) {
  std::string text;
  for (const auto& [code, count] : result.errors)
    text += fmt::format("{}{} {}", text.empty() ? "" : ";", code, count);
  return text;
}

std::string FiguresLine(const BenchOptions& options, const BenchResult& result,
                        std::optional<uint64_t> disk_bytes) {
  const auto cell_if = [](bool is_known, uint64_t number) {
    return is_known ? std::to_string(number) : std::string();
  };
  const BenchCounts& counts = result.counts;
  const lab::LatencyHistogram& latencies = result.latencies;
  return fmt::format(
      "{},{},{:.3f},{:.1f},{:.1f},{:.1f},{:.1f},{},{},{},{},{},{:.1f},{},{:.3f},{},{},{},{},{}\n",
      CsvCell(result.workload->name), counts.operations, SecondsOf(result.time),
      PerSecond(counts.operations, result.time), PerSecond(counts.rows, result.time),
      PerSecond(counts.cells, result.time), PerSecond(counts.value_bytes, result.time) / kMega,
      Micros(latencies.ValueAtPercentile(50)), Micros(latencies.ValueAtPercentile(90)),
      Micros(latencies.ValueAtPercentile(99)), Micros(latencies.ValueAtPercentile(99.9)),
      Micros(latencies.Max()), RoundedMicros(latencies.Mean()), ErrorCount(result),
      result.cpu_seconds, cell_if(disk_bytes.has_value(), disk_bytes.value_or(0)),
      cell_if(disk_bytes.has_value(), counts.bytes_read),
      cell_if(options.rate.has_value(), counts.late),
      cell_if(options.rate.has_value(), counts.not_begun), ErrorCodes(result));
}

std::string TextHeader(const BenchOptions& options, const std::string& location,
                       const std::optional<LoadFigures>& load) {
  std::string text = fmt::format(
      "machine   {}\ndatabase  {}, table {}\ndata      {}\nrun       {}, {} threads, {}, seed {}, "
      "{}\n",
      Machine(), EscapedKey(location), EscapedKey(options.table), options.DataText(),
      DistributionText(options), options.operations.threads, LoopText(options),
      options.operations.seed, EndText(options));
  if (load.has_value()) {
    text += fmt::format("load      {} rows in {:.1f} s: {:.0f} rows/s, {:.1f} MB/s\n", load->rows,
                        SecondsOf(load->time), PerSecond(load->rows, load->time),
                        PerSecond(load->value_bytes, load->time) / kMega);
  }
  if (options.workloads.empty()) return text;
  return text + fmt::format(
                    "\n{:<16} {:>10} {:>9} {:>10} {:>10} {:>7} {:>8} {:>8} {:>8} {:>9} "
                    "{:>9} {:>8} {:>6} {:>6}\n",
                    "workload", "ops", "ops/s", "rows/s", "cells/s", "MB/s", "p50 us", "p90", "p99",
                    "p99.9", "max", "mean", "cpu s", "errors");
}

std::string TextLine(const BenchOptions& options, const BenchResult& result,
                     std::optional<uint64_t> disk_bytes) {
  const BenchCounts& counts = result.counts;
  const lab::LatencyHistogram& latencies = result.latencies;
  std::string text = fmt::format(
      "{:<16} {:>10} {:>9.0f} {:>10.0f} {:>10.0f} {:>7.1f} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8.1f} "
      "{:>6.1f} {:>6}\n",
      EscapedKey(result.workload->name), counts.operations,
      PerSecond(counts.operations, result.time), PerSecond(counts.rows, result.time),
      PerSecond(counts.cells, result.time), PerSecond(counts.value_bytes, result.time) / kMega,
      Micros(latencies.ValueAtPercentile(50)), Micros(latencies.ValueAtPercentile(90)),
      Micros(latencies.ValueAtPercentile(99)), Micros(latencies.ValueAtPercentile(99.9)),
      Micros(latencies.Max()), RoundedMicros(latencies.Mean()), result.cpu_seconds,
      ErrorCount(result));
  if (options.rate.has_value()) {
    const double reached = PerSecond(counts.operations, result.time);
    text += fmt::format("{:<16} late by more than 1 ms: {}; p99 of the calls alone: {} us{}\n", "",
                        counts.late, Micros(result.service_times.ValueAtPercentile(99)),
                        reached < 0.95 * *options.rate
                            ? fmt::format("; the rate was not sustained, {:.0f}/s reached, {} "
                                          "operations did not begin",
                                          reached, counts.not_begun)
                            : "");
  }
  if (disk_bytes.has_value()) {
    text += fmt::format("{:<16} bytes read by scans {}, on disk {}\n", "", counts.bytes_read,
                        *disk_bytes);
  }
  for (const auto& [code, count] : result.errors)
    text += fmt::format("{:<16} {} errors {}\n", "", count, code);
  if (!result.first_error.empty())
    text +=
        fmt::format("{:<16} the first one: {}\n", "", internal::EscapedMessage(result.first_error));
  return text;
}

}  // namespace

std::string BenchHeader(const BenchOptions& options, Format format, const std::string& location,
                        const std::optional<LoadFigures>& load) {
  if (format == Format::kJson) return JsonHeader(options, location, load);
  if (format == Format::kCsv) return std::string(kCsvHeader);
  return TextHeader(options, location, load);
}

std::string BenchLine(const BenchOptions& options, Format format, const BenchResult& result,
                      std::optional<uint64_t> disk_bytes) {
  if (format == Format::kJson) return JsonLine(options, result, disk_bytes);
  if (format == Format::kCsv) return FiguresLine(options, result, disk_bytes);
  return TextLine(options, result, disk_bytes);
}

std::vector<std::string> OutputPaths(const BenchOptions& options, const std::string& output) {
  std::vector<std::string> paths = {output, options.hlog_path};
  for (const Workload* const workload : options.workloads)
    paths.push_back(PercentilePath(options, workload->name));
  for (const std::string& query : options.queries) paths.push_back(PercentilePath(options, query));
  return paths;
}

absl::Status WritePercentiles(const BenchOptions& options, const BenchResult& result) {
  if (options.hgrm_path.empty()) return absl::OkStatus();
  return ReplaceFile(PercentilePath(options, result.workload->name),
                     result.latencies.PercentileText());
}

absl::Status WriteIntervals(const BenchOptions& options, std::span<const BenchResult> results) {
  if (options.hlog_path.empty()) return absl::OkStatus();
  std::string text = internal::lab::IntervalLog::Head();
  for (const BenchResult& result : results)
    text += result.intervals.Lines(PlainName(result.workload->name) + ".");
  return ReplaceFile(options.hlog_path, text);
}

}  // namespace stele::cli
