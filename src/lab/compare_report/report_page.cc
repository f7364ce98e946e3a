// compare_report/report_page.cc: the report of a comparison as a page: the table, a plot of the
// latency of each query, the operations per second, and the heat maps of all designs on one scale.
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "keys/printable.h"
#include "lab/compare_report/report_text.h"
#include "lab/figures/figures.h"
#include "lab/heat_page/heat_page.h"
#include "lab/report_page/page_text.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareReport;
using Json = nlohmann::ordered_json;

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json LinesJson(const FigureTable& figures) {
  Json lines = Json::array();
  for (const FigureGroup& group : figures.groups()) {
    if (!group.name.empty()) {
      std::string heading = group.name;
      for (const std::string& remark : group.remarks) heading += "\n" + remark;
      Json json = {{"label", heading}};
      lines.push_back(std::move(json));
    }
    for (const FigureLine& line : group.lines) {
      Json json = {{"label", (group.name.empty() ? "" : "  ") + line.label}, {"cells", line.cells}};
      if (!line.numbers.empty()) json["numbers"] = line.numbers;
      if (line.best.has_value()) json["best"] = *line.best;
      lines.push_back(std::move(json));
    }
  }
  return lines;
}

// A plot per query, for a warm and a cold cache, with a curve per design.
Json PlotsJson(const CompareReport& report) {
  Json plots = Json::array();
  for (size_t query = 0; query < report.queries.size(); ++query) {
    const auto add =
        [&](const std::string& cache,
            std::optional<CompareReport::TimedFigures> CompareReport::DesignFigures::*timed) {
          if (!(report.designs[0].*timed).has_value()) return;
          Json curves = Json::array();
          for (const CompareReport::DesignFigures& design : report.designs)
            curves.push_back(PointsJson((design.*timed)->queries[query].all_rounds));
          plots.push_back({{"title", EscapedBytes(report.queries[query].name) + cache},
                           {"curves", std::move(curves)}});
        };
    add("", &CompareReport::DesignFigures::warm);
    add(" (cold cache)", &CompareReport::DesignFigures::cold);
  }
  return plots;
}

// A plot for a warm and a cold cache, with a curve per design.
Json RatePlotsJson(const CompareReport& report) {
  Json plots = Json::array();
  const auto add =
      [&](const std::string& cache,
          std::optional<CompareReport::TimedFigures> CompareReport::DesignFigures::*timed) {
        if (report.designs.empty() || !(report.designs[0].*timed).has_value()) return;
        Json curves = Json::array();
        for (const CompareReport::DesignFigures& design : report.designs)
          curves.push_back(RatePointsJson((design.*timed)->rates));
        plots.push_back({{"title", "all queries" + cache}, {"curves", std::move(curves)}});
      };
  add("", &CompareReport::DesignFigures::warm);
  add(" (cold cache)", &CompareReport::DesignFigures::cold);
  return plots;
}

std::string AnswersOnPage(const CompareLines& lines) {
  std::string text = fmt::format("answers {}", fmt::join(lines.answers, "\n"));
  for (const std::string& note : lines.notes) text += "\n" + note;
  return text;
}

// Returns the text above the heat maps.
std::string MapsText(const CompareReport& report) {
  std::string text = "The workload of each design, on one scale of colors.";
  if (!report.has_times)
    text += " Its times are artificial: an operation begins every millisecond from 1970 on.";
  return text;
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string CompareReport::ToHtml() const {
  using internal::lab::AppendDataElement;
  const internal::lab::CompareLines lines = internal::lab::MakeCompareLines(*this);
  std::string data;
  AppendDataElement(
      "compare-data",
      internal::lab::TextOf(
          {{"run", fmt::format("loading {}\nreplaying {}", fmt::join(lines.loaded, "\nloading "),
                               lines.replayed)},
           {"answers", internal::lab::AnswersOnPage(lines)},
           {"summary", lines.figures.Summary()},
           {"maps", internal::lab::MapsText(*this)},
           {"designs", lines.figures.designs()},
           {"lines", internal::lab::LinesJson(lines.figures)},
           {"plots", internal::lab::PlotsJson(*this)},
           {"rates", internal::lab::RatePlotsJson(*this)}}),
      &data);
  for (size_t i = 0; i < designs.size(); ++i) {
    const HeatMap& map = internal::lab::PageMap(designs[i]);
    AppendDataElement(fmt::format("compare-map-{}", i),
                      internal::lab::HeatPageMap(map, HeatMetric::kOps), &data);
  }
  const std::string script = std::string(internal::lab::kReportScript) + "</script>\n<script>\n" +
                             std::string(internal::lab::kCompareScript);
  return internal::lab::HeatPageHtml({.title = "Comparison of designs",
                                      .style = internal::lab::kReportStyle,
                                      .beginning = internal::lab::kComparePage,
                                      .data = data,
                                      .script = script});
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
