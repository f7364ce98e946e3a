#include "compare/report_page.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "bench/figures.h"
#include "fmt/format.h"
#include "key_bytes.h"
#include "lab/heat_page/heat_page.h"
#include "lab/report_page/page_text.h"
#include "page/page_text.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json LinesJson(const FigureTable& figures) {
  Json lines = Json::array();
  for (const FigureLine& line : figures.lines()) {
    Json json = {{"label", line.label}};
    if (!line.cells.empty()) json["cells"] = line.cells;
    if (!line.numbers.empty()) json["numbers"] = line.numbers;
    if (line.best.has_value()) json["best"] = *line.best;
    lines.push_back(std::move(json));
  }
  return lines;
}

// A plot per query, for a warm and a cold cache, with a curve per design.
Json PlotsJson(const LogicalWorkload& workload, const CompareResult& result) {
  Json plots = Json::array();
  for (size_t query = 0; query < workload.queries.size(); ++query) {
    const auto add = [&](const std::string& cache,
                         std::optional<TimedFigures> DesignResult::*timed) {
      if (!(result.designs[0].*timed).has_value()) return;
      Json curves = Json::array();
      for (const DesignResult& design : result.designs)
        curves.push_back(PointsJson((design.*timed)->queries[query].all_rounds));
      plots.push_back({{"title", EscapedKey(workload.queries[query].name) + cache},
                       {"curves", std::move(curves)}});
    };
    add("", &DesignResult::warm);
    add(" (cold cache)", &DesignResult::cold);
  }
  return plots;
}

// What the heat maps show.
std::string MapsText(const LogicalWorkload& workload) {
  std::string text = "The workload of each design, on one scale of colors.";
  if (!workload.has_times)
    text += " Its times are artificial: an operation begins every millisecond from 1970 on.";
  return text;
}

}  // namespace

std::string ComparePage(const CompareReport& report, const LogicalWorkload& workload,
                        const CompareResult& result) {
  using internal::lab::AppendDataElement;
  std::string data;
  AppendDataElement("compare-data",
                    TextOf({{"run", report.run},
                            {"answers", report.answers + report.notes},
                            {"summary", report.figures.Summary()},
                            {"findings", report.findings},
                            {"maps", MapsText(workload)},
                            {"designs", report.figures.designs()},
                            {"lines", LinesJson(report.figures)},
                            {"plots", PlotsJson(workload, result)}}),
                    &data);
  for (size_t i = 0; i < result.designs.size(); ++i) {
    AppendDataElement(
        fmt::format("compare-map-{}", i),
        internal::lab::HeatPageMap(result.designs[i].page_maps[0], lab::HeatMetric::kOps), &data);
  }
  const std::string script = std::string(internal::lab::kReportScript) + "</script>\n<script>\n" +
                             std::string(kCompareScript);
  return internal::lab::HeatPageHtml({.title = "Comparison of designs",
                                      .style = internal::lab::kReportStyle,
                                      .beginning = kComparePage,
                                      .data = data,
                                      .script = script});
}

}  // namespace stele::cli
