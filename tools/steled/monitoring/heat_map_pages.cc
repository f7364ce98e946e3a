#include "steled/monitoring/heat_map_pages.h"

#include <string>
#include <utility>
#include <vector>

#ifdef STELED_HAS_LAB
#include "lab/heat_map/complete_map.h"
#include "lab/heat_page/live_page.h"
#include "stele/lab/heat_map.h"
#endif

namespace stele::server {

#ifdef STELED_HAS_LAB

namespace {

using lab::HeatMap;
using lab::HeatMetric;

constexpr char kPath[] = "/heatmap";
constexpr char kDayPath[] = "/heatmap/day";

HeatMap MapOf(const std::string& table, TableCounts* counts, HeatWindow window,
              int64_t now_micros) {
  StepRing::Copy copy = counts->CopyAt(window, now_micros);
  HeatMap::Parts parts{.table = table,
                       .start_micros = copy.start_micros,
                       .step_micros = copy.width_micros,
                       .steps = copy.steps};
  const std::vector<std::string>& starts = counts->starts();
  for (size_t band = 0; band < starts.size(); ++band)
    parts.bands.push_back(
        {.start = starts[band], .end = band + 1 < starts.size() ? starts[band + 1] : ""});
  std::vector<double> operations = copy.reads;
  for (size_t i = 0; i < operations.size(); ++i) operations[i] += copy.writes[i];
  parts.values[HeatMetric::kOps] = std::move(operations);
  parts.values[HeatMetric::kReads] = std::move(copy.reads);
  parts.values[HeatMetric::kWrites] = std::move(copy.writes);
  return internal::lab::CompleteMap(std::move(parts), {});
}

std::string MapsJson(const LiveCounts& counts, HeatWindow window) {
  std::string list = "[";
  for (const auto& [table, table_counts] : counts.tables()) {
    if (list.size() > 1) list += ',';
    list += MapOf(table, table_counts.get(), window, counts.NowMicros()).ToJson(HeatMetric::kOps);
  }
  return list + "]";
}

}  // namespace

bool HasHeatMapPages() { return true; }

void AddHeatMapPages(const std::shared_ptr<LiveCounts>& counts, std::function<void()> refresh,
                     HttpPages::Pages* pages) {
  const auto add = [&](const std::string& path, HeatWindow window, const std::string& other_path,
                       const char* other_title) {
    const std::string maps_path = path + ".json";
    (*pages)[path] = [maps_path, other_path, other_title] {
      return HttpPages::Page{
          .type = "text/html; charset=utf-8",
          .body = internal::lab::LivePageHtml(
              {.maps_path = maps_path, .other_path = other_path, .other_title = other_title}),
          .needs_known_host = true};
    };
    (*pages)[maps_path] = [counts, refresh, window] {
      refresh();
      return HttpPages::Page{
          .type = "application/json", .body = MapsJson(*counts, window), .needs_known_host = true};
    };
  };
  add(kPath, HeatWindow::kMinutes, kDayPath, "the last 24 hours");
  add(kDayPath, HeatWindow::kDay, kPath, "the last 20 minutes");
}

#else

bool HasHeatMapPages() { return false; }

void AddHeatMapPages(const std::shared_ptr<LiveCounts>& /*counts*/,
                     std::function<void()> /*refresh*/, HttpPages::Pages* /*pages*/) {}

#endif

}  // namespace stele::server
