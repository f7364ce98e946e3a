// replay/replay_report.cc: the report of a replay: sums, text and JSON lines.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "keys/hidden.h"
#include "lab/figures/figures.h"
#include "lab/replay/report_table.h"
#include "lab/workload/replay_rate.h"
#include "stele/lab/replay.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

using Json = nlohmann::ordered_json;
using internal::lab::ReplayColumn;
using internal::lab::ReplayLine;

constexpr size_t kNameWidthMin = 6;

Json OperationsJson(std::string_view name, const ReplayReport::Operations& part,
                    const ReplayReport& report) {
  const double per_second = internal::lab::PerSecond(part.operations, report.time);
  Json line = {{"op", name},
               {"operations", part.operations},
               {"operations_per_second", internal::lab::Rounded(per_second)},
               {"rows", part.rows},
               {"cells", part.cells},
               {"value_bytes", part.value_bytes}};
  if (part.is_work_known) line["bytes_read"] = part.bytes_read;
  line["latency_us"] = internal::lab::HistogramJson(part.latencies);
  if (report.rate.is_open_loop()) {
    line["service_time_us"] = internal::lab::HistogramJson(part.service_times);
    line["late"] = part.late;
  }
  return line;
}

std::string JsonLine(const Json& json) {
  return internal::EscapeHidden(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

void ReplayReport::Operations::Add(const Operations& other) {
  operations += other.operations;
  rows += other.rows;
  cells += other.cells;
  value_bytes += other.value_bytes;
  bytes_read += other.bytes_read;
  is_work_known = is_work_known && other.is_work_known;
  late += other.late;
  latencies.Add(other.latencies);
  service_times.Add(other.service_times);
}

ReplayReport::Operations ReplayReport::Sum() const {
  Operations sum;
  for (const auto& [name, part] : operations) sum.Add(part);
  return sum;
}

uint64_t ReplayReport::error_count() const {
  uint64_t sum = 0;
  for (const auto& [code, count] : errors) sum += count;
  return sum;
}

bool ReplayReport::fell_behind() const {
  constexpr std::chrono::milliseconds kSlack(100);
  return rate.is_open_loop() && lag > scheduled / 20 + kSlack;
}

std::string ReplayReport::ToText() const {
  const internal::lab::ReplayTable table = internal::lab::MakeReplayTable(*this);
  size_t name_width = kNameWidthMin;
  for (const ReplayLine& line : table.lines) name_width = std::max(name_width, line.name.size());
  std::string text = table.head + fmt::format("\n{:<{}}", "op", name_width);
  for (const ReplayColumn& column : internal::lab::kReplayColumns)
    text += fmt::format(" {:>{}}", column.name, column.width);
  text += '\n';
  for (const ReplayLine& line : table.lines) {
    text += fmt::format("{:<{}}", line.name, name_width);
    for (size_t i = 0; i < line.cells.size(); ++i)
      text += fmt::format(" {:>{}}", line.cells[i], internal::lab::kReplayColumns[i].width);
    text += '\n';
  }
  return text + "\n" + table.notes;
}

std::string ReplayReport::ToJson(std::string_view version) const {
  Json run = {{"location", location},
              {"trace", trace},
              {"sample", sample},
              {"trace_operations", trace_operations},
              {"trace_is_complete", is_trace_complete},
              {"loop", internal::lab::ReplayRateText(rate)},
              {"threads", threads},
              {"seed", seed},
              {"seconds", internal::lab::SecondsOf(time)},
              {"cpu_seconds", cpu_seconds},
              {"skipped", Json::object()},
              {"skipped_lines", skipped_lines},
              {"errors", errors},
              {"version", version},
              {"machine", internal::lab::Machine()}};
  for (const auto& [why, count] : skipped_operations) run["skipped"][why] = count;
  if (!end.ok()) run["ended_early"] = internal::ToStd(end.message());
  if (rate.is_open_loop()) run["rate_was_sustained"] = !fell_behind();
  std::string text = JsonLine({{"run", std::move(run)}});
  for (const auto& [name, part] : operations) text += JsonLine(OperationsJson(name, part, *this));
  Json all = OperationsJson(internal::lab::kAllOperations, Sum(), *this);
  all["rates"] = internal::lab::RatesJson(rates);
  if (rate.is_open_loop()) all["due_rates"] = internal::lab::RatesJson(due_rates);
  return text + JsonLine(all);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
