// compare_report/report_json.cc: the figures of a comparison as JSON.
//
// Units:     latencies in microseconds with one decimal digit.
#include <nlohmann/json.hpp>

#include "keys/utf8.h"
#include "lab/compare_report/report_text.h"
#include "lab/figures/figures.h"
#include "lab/heat_output/map_json.h"
#include "lab/values/base64.h"
#include "lab/workload/replay_rate.h"
#include "lab/workload/row_chooser.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareReport;
using stele::lab::HeatMetric;
using Json = nlohmann::ordered_json;

// Sets the member `name`, or NAME_base64 for bytes that are not UTF-8.
void AddText(const std::string& name, const std::string& bytes, Json* json) {
  if (!FirstNotUtf8(bytes).has_value()) {
    (*json)[name] = bytes;
    return;
  }
  std::string base64;
  AppendBase64(bytes, &base64);
  (*json)[name + "_base64"] = std::move(base64);
}

Json ToJson(const CompareReport::TableFigures& figures) {
  Json json = {{"records", figures.records},
               {"rows", figures.rows},
               {"cells_loaded", figures.cells_loaded},
               {"cells_kept", figures.cells_kept},
               {"cells_per_row",
                {{"p50", figures.cells_per_row_p50},
                 {"p99", figures.cells_per_row_p99},
                 {"max", figures.cells_per_row_max}}}};
  AddText("largest_row", figures.largest_row, &json);
  json.update({{"largest_row_bytes", figures.largest_row_bytes},
               {"key_bytes", figures.key_bytes},
               {"qualifier_bytes", figures.qualifier_bytes},
               {"value_bytes", figures.value_bytes},
               {"logical_bytes", figures.logical_bytes()},
               {"disk_bytes", figures.disk_bytes},
               {"logged_bytes", figures.logged_bytes},
               {"loaded_logical_bytes", figures.loaded_logical_bytes},
               {"written_bytes", figures.written_bytes},
               {"load_seconds", figures.load_seconds}});
  return json;
}

// The fields of a record as in a logical trace.
Json ToJson(const CompareReport::AnswerDifference& difference, const CompareReport& report) {
  Json json = {{"query", report.queries[difference.query].name}, {"record", Json::object()}};
  Json bytes = Json::object();
  for (const auto& [field, value] : difference.record) {
    if (!FirstNotUtf8(value).has_value()) {
      json["record"][field] = value;
      continue;
    }
    std::string base64;
    AppendBase64(value, &base64);
    bytes[field] = std::move(base64);
  }
  if (!bytes.empty()) json["record_base64"] = std::move(bytes);
  json["values"] = difference.values;
  return json;
}

Json ToJson(const CompareReport::QueryFigures& query, const CompareReport::Query& of) {
  Json json = {{"query", of.name}, {"operations", query.operations}, {"requests", query.requests}};
  if (of.written_input.empty()) {
    const ReadStats& stats = query.stats;
    json["rows_seen"] = stats.rows_seen;
    json["rows_returned"] = stats.rows_returned;
    json["cells_seen"] = stats.cells_seen;
    json["cells_returned"] = stats.cells_returned;
    json["bytes_returned"] = query.bytes_returned;
    json["blocks"] = stats.blocks;
  } else {
    json["writes"] = of.written_input;
  }
  if (of.differing_operations > 0) json["differing_operations"] = of.differing_operations;
  if (of.unusable_records > 0) {
    json["unusable_records"] = of.unusable_records;
    json["first_unusable_record"] = of.first_unusable_record;
  }
  return json;
}

// Adds the median of the rounds as `name`, and the least and the largest one.
void AddMeasured(const std::string& name, const Measured& measured, double (*shown)(double),
                 Json* json) {
  (*json)[name] = shown(measured.median);
  (*json)[name + "_least"] = shown(measured.least);
  (*json)[name + "_largest"] = shown(measured.largest);
}

double Unrounded(double number) { return number; }

Json ToJson(const CompareReport::LatencyFigures& latency) {
  Json json = HistogramJson(latency.all_rounds);
  AddMeasured("p50", latency.p50, RoundedMicros, &json);
  AddMeasured("p99", latency.p99, RoundedMicros, &json);
  return json;
}

// Parses JSON that heat_output has written.
Json Parsed(const std::string& json) { return Json::parse(json, nullptr, false); }

// Adds the measurements to a design and its queries.
void AddTimed(const CompareReport::TimedFigures& timed, const stele::lab::ReplayRate& rate,
              const std::string& latency_name, Json* queries, Json* json) {
  AddMeasured("operations_per_second", timed.operations_per_second, Rounded, json);
  (*json)["rates"] = RatesJson(timed.rates);
  AddMeasured("cpu_seconds", timed.cpu_seconds, Unrounded, json);
  if (rate.is_open_loop()) AddMeasured("late", timed.late, Unrounded, json);
  for (size_t i = 0; i < timed.queries.size(); ++i)
    (*queries)[i][latency_name] = ToJson(timed.queries[i]);
}

Json ToJson(const CompareReport::DesignFigures& design, const CompareReport& report) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  Json json = {{"design", design.name},
               {"table", design.table},
               {"data", ToJson(design.data)},
               {"queries", Json::array()},
               {"hottest_band_share", design.hottest_band_share},
               {"gini", design.heat_map->parts().gini},
               {"patterns", Parsed(PatternsJson(design.heat_map->patterns()))},
               {"findings", Json::object()}};
  Json queries = Json::array();
  for (size_t i = 0; i < report.queries.size(); ++i)
    queries.push_back(ToJson(design.queries[i], report.queries[i]));
  if (design.warm.has_value()) AddTimed(*design.warm, report.rate, "latency_us", &queries, &json);
  if (design.cold.has_value()) {
    for (size_t i = 0; i < report.queries.size(); ++i)
      queries[i]["cold_bytes_read"] = design.queries[i].cold_bytes_read;
    AddTimed(*design.cold, report.rate, "cold_latency_us", &queries, &json["cold"]);
  }
  json["queries"] = std::move(queries);
  for (const auto& [id, severity] : design.findings)
    json["findings"][id] = kSeverities[static_cast<size_t>(severity)];
  json["heat_map"] = Parsed(PageMap(design).ToJson(HeatMetric::kOps));
  return json;
}

// Returns the figures with a star in the table, and the design that has it.
Json BetterFigures(const CompareReport& report) {
  Json better = Json::array();
  const FigureTable table = MakeCompareLines(report).figures;
  for (const FigureGroup& group : table.groups()) {
    for (const FigureLine& line : group.lines) {
      if (!line.best.has_value()) continue;
      better.push_back({{"figure", line.figure}, {"design", table.designs()[*line.best]}});
    }
  }
  return better;
}

Json ToJson(const CompareReport::Estimate& estimate) {
  Json json = {{"reads_per_second", estimate.reads_per_second},
               {"writes_per_second", estimate.writes_per_second},
               {"scan_mb_per_second", estimate.scan_mb_per_second},
               {"storage_gb", estimate.storage_gb},
               {"load", estimate.load},
               {"nodes", estimate.nodes}};
  if (estimate.month_price.has_value()) json["month_price"] = *estimate.month_price;
  return json;
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string CompareReport::ToJson(std::string_view version) const {
  using Json = nlohmann::ordered_json;
  Json json = {{"compare", 1},
               {"operations", operations},
               {"rounds", rounds},
               {"threads", threads},
               {"loop", internal::lab::ReplayRateText(rate)},
               {"version", version},
               {"machine", internal::lab::Machine()},
               {"answers_compared", answers_compared},
               {"answers_equal", answers_equal},
               {"answers_empty", answers_empty},
               {"differences", Json::array()},
               {"notes", notes},
               {"better", internal::lab::BetterFigures(*this)},
               {"designs", Json::array()}};
  if (trace.empty()) {
    json["distribution"] = internal::lab::DistributionText(distribution);
    json["seed"] = seed;
  } else {
    internal::lab::AddText("trace", trace, &json);
  }
  for (const AnswerDifference& difference : differences)
    json["differences"].push_back(internal::lab::ToJson(difference, *this));
  if (estimate.has_value()) json["estimate_rate"] = estimate_rate;
  for (const DesignFigures& design : designs) {
    json["designs"].push_back(internal::lab::ToJson(design, *this));
    if (design.estimate.has_value())
      json["designs"].back()["estimate"] = internal::lab::ToJson(*design.estimate);
  }
  // A terminal may get the text, so characters outside ASCII are \uXXXX.
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
