#include "replay/report_page.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bench/figures.h"
#include "key_bytes.h"
#include "lab/heat_page/heat_page.h"
#include "page/page_text.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

Json LinesJson(const ReplayReport& report) {
  Json lines = Json::array();
  for (const ReplayLine& line : report.lines)
    lines.push_back({{"label", line.name}, {"cells", line.cells}});
  return lines;
}

// A plot per kind of operation, with the latency and, in an open loop, the time of the calls.
Json PlotsJson(const ReplayResult& result, bool is_open_loop) {
  Json plots = Json::array();
  for (const auto& [name, part] : result.parts) {
    Json curves = Json::array({PointsJson(part.latencies)});
    if (is_open_loop) curves.push_back(PointsJson(part.service_times));
    plots.push_back({{"title", EscapedKey(name)}, {"curves", std::move(curves)}});
  }
  return plots;
}

}  // namespace

std::string ReplayPage(const ReplayReport& report, const ReplayResult& result, bool is_open_loop) {
  Json columns = Json::array();
  for (const ReplayColumn& column : kReplayColumns) columns.push_back(column.name);
  Json names = Json::array({"latency"});
  if (is_open_loop) names.push_back("calls alone");
  const Json json = {
      {"run", report.head},    {"columns", columns}, {"lines", LinesJson(report)},
      {"notes", report.notes}, {"names", names},     {"plots", PlotsJson(result, is_open_loop)}};
  std::string data;
  internal::lab::AppendDataElement(
      "replay-data", json.dump(-1, ' ', false, Json::error_handler_t::replace), &data);
  const std::string script =
      std::string(kReportScript) + "</script>\n<script>\n" + std::string(kReplayScript);
  return internal::lab::FillMarks(
      kReplayPage, {{"@STYLE@", kReportStyle}, {"@DATA@", data}, {"@SCRIPT@", script}});
}

}  // namespace stele::cli
