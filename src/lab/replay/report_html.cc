// replay/report_html.cc: the report of a replay as a page.
#include <nlohmann/json.hpp>
#include <utility>

#include "keys/printable.h"
#include "lab/figures/figures.h"
#include "lab/heat_page/heat_page.h"
#include "lab/replay/report_table.h"
#include "lab/report_page/page_text.h"
#include "stele/lab/replay.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

using Json = nlohmann::ordered_json;

Json LinesJson(const internal::lab::ReplayTable& table) {
  Json lines = Json::array();
  for (const internal::lab::ReplayLine& line : table.lines)
    lines.push_back({{"label", line.name}, {"cells", line.cells}});
  return lines;
}

// A plot per kind of operation, with the latency and, in an open loop, the time of the calls.
Json PlotsJson(const ReplayReport& report) {
  Json plots = Json::array();
  for (const auto& [name, part] : report.operations) {
    Json curves = Json::array({internal::lab::PointsJson(part.latencies)});
    if (report.rate.is_open_loop()) curves.push_back(internal::lab::PointsJson(part.service_times));
    plots.push_back({{"title", internal::EscapedBytes(name)}, {"curves", std::move(curves)}});
  }
  return plots;
}

// One plot, with the operations that ended and, in an open loop, those that were due.
Json RatePlotsJson(const ReplayReport& report) {
  Json curves = Json::array({internal::lab::RatePointsJson(report.rates)});
  if (report.rate.is_open_loop()) curves.push_back(internal::lab::RatePointsJson(report.due_rates));
  return Json::array({{{"title", "all operations"}, {"curves", std::move(curves)}}});
}

}  // namespace

std::string ReplayReport::ToHtml() const {
  const internal::lab::ReplayTable table = internal::lab::MakeReplayTable(*this);
  Json columns = Json::array();
  for (const internal::lab::ReplayColumn& column : internal::lab::kReplayColumns)
    columns.push_back(column.name);
  Json names = Json::array({"latency"});
  Json rate_names = Json::array({"reached"});
  if (rate.is_open_loop()) {
    names.push_back("calls alone");
    rate_names.push_back("due");
  }
  const Json json = {{"run", table.head},
                     {"columns", columns},
                     {"lines", LinesJson(table)},
                     {"notes", table.notes},
                     {"names", names},
                     {"plots", PlotsJson(*this)},
                     {"rate_names", rate_names},
                     {"rates", RatePlotsJson(*this)}};
  std::string data;
  internal::lab::AppendDataElement(
      "replay-data", json.dump(-1, ' ', false, Json::error_handler_t::replace), &data);
  const std::string script = std::string(internal::lab::kReportScript) + "</script>\n<script>\n" +
                             std::string(internal::lab::kReplayScript);
  return internal::lab::FillMarks(
      internal::lab::kReplayPage,
      {{"@STYLE@", internal::lab::kReportStyle}, {"@DATA@", data}, {"@SCRIPT@", script}});
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
