#include "compare/report_json.h"

#include <nlohmann/json.hpp>

#include "bench/figures.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const TableFigures& figures) {
  return {{"records", figures.records},
          {"rows", figures.rows},
          {"cells_loaded", figures.cells_loaded},
          {"cells", figures.cells},
          {"cells_per_row",
           {{"p50", figures.cells_per_row_p50},
            {"p99", figures.cells_per_row_p99},
            {"max", figures.cells_per_row_max}}},
          {"largest_row", EscapedKey(figures.largest_row)},
          {"largest_row_bytes", figures.largest_row_bytes},
          {"key_bytes", figures.key_bytes},
          {"qualifier_bytes", figures.qualifier_bytes},
          {"value_bytes", figures.value_bytes},
          {"logical_bytes", figures.logical_bytes()},
          {"disk_bytes", figures.disk_bytes},
          {"written_bytes", figures.written_bytes},
          {"load_seconds", figures.load_seconds}};
}

Json ToJson(const QueryResult& query, const LogicalQuery& of) {
  Json json = {
      {"query", of.name}, {"operations", query.operations}, {"requests", query.totals.requests}};
  if (of.input.empty()) {
    const ReadStats& stats = query.totals.stats;
    json["rows_seen"] = stats.rows_seen;
    json["rows_returned"] = stats.rows_returned;
    json["cells_seen"] = stats.cells_seen;
    json["cells_returned"] = stats.cells_returned;
    json["bytes_returned"] = query.totals.bytes_returned;
    json["blocks"] = stats.blocks;
  } else {
    json["writes"] = of.input;
  }
  return json;
}

Json ToJson(const LatencyFigures& latency) {
  Json json = HistogramJson(latency.all_rounds);
  json["p50"] = RoundedMicros(latency.p50.median);
  json["p99"] = RoundedMicros(latency.p99.median);
  return json;
}

// Adds the measurements to a design and its queries.
void AddTimed(const TimedFigures& timed, const Pace& pace, const std::string& latency_name,
              Json* queries, Json* json) {
  (*json)["operations_per_second"] = Rounded(timed.operations_per_second.median);
  (*json)["cpu_seconds"] = timed.cpu_seconds.median;
  if (pace.is_open_loop()) (*json)["late"] = timed.late.median;
  for (size_t i = 0; i < timed.queries.size(); ++i)
    (*queries)[i][latency_name] = ToJson(timed.queries[i]);
}

Json ToJson(const DesignResult& design, const CompareOptions& options,
            const LogicalWorkload& workload) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  Json json = {{"design", design.name},
               {"table", design.table},
               {"data", ToJson(design.table_figures)},
               {"queries", Json::array()},
               {"busiest_range_share", design.busiest_range_share},
               {"gini", design.maps[0].parts().gini},
               {"patterns", Json::array()},
               {"findings", Json::object()}};
  Json queries = Json::array();
  for (size_t i = 0; i < workload.queries.size(); ++i)
    queries.push_back(ToJson(design.queries[i], workload.queries[i]));
  if (design.warm.has_value()) AddTimed(*design.warm, options.pace, "latency_us", &queries, &json);
  if (design.cold.has_value()) {
    for (size_t i = 0; i < workload.queries.size(); ++i)
      queries[i]["cold_bytes_read"] = design.queries[i].cold_bytes_read;
    AddTimed(*design.cold, options.pace, "cold_latency_us", &queries, &json["cold"]);
  }
  json["queries"] = std::move(queries);
  for (const lab::HeatPattern& pattern : design.maps[0].patterns())
    json["patterns"].push_back({{"name", pattern.name}, {"message", pattern.message}});
  for (const auto& [id, severity] : design.findings)
    json["findings"][id] = kSeverities[static_cast<size_t>(severity)];
  return json;
}

Json ToJson(const Estimate& estimate) {
  Json json = {{"reads_per_second", estimate.reads},
               {"writes_per_second", estimate.writes},
               {"scan_mb_per_second", estimate.scan_mb},
               {"storage_gb", estimate.storage_gb},
               {"load", estimate.load},
               {"nodes", estimate.nodes}};
  if (estimate.month_price.has_value()) json["month_price"] = *estimate.month_price;
  return json;
}

}  // namespace

std::string CompareJson(const CompareOptions& options, const LogicalWorkload& workload,
                        const CompareResult& result) {
  Json json = {{"compare", 1},
               {"operations", workload.operations.size()},
               {"rounds", options.rounds},
               {"threads", options.threads},
               {"loop", options.pace.ToText()},
               {"version", STELE_VERSION},
               {"machine", Machine()},
               {"answers_compared", result.answers_compared},
               {"answers_equal", result.answers_equal},
               {"answers_empty", result.answers_empty},
               {"differences", Json::array()},
               {"designs", Json::array()}};
  if (options.trace_path.empty()) {
    json["distribution"] = ToText(options.distribution);
    json["seed"] = options.seed;
  } else {
    json["trace"] = options.trace_path;
  }
  for (const AnswerDifference& difference : result.differences) {
    json["differences"].push_back({{"query", workload.queries[difference.query].name},
                                   {"record", difference.record},
                                   {"values", difference.values}});
  }
  if (options.estimate.has_value()) json["estimate_rate"] = result.estimate_rate;
  for (const DesignResult& design : result.designs) {
    json["designs"].push_back(ToJson(design, options, workload));
    if (design.estimate.has_value()) json["designs"].back()["estimate"] = ToJson(*design.estimate);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stele::cli
