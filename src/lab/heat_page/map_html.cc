// heat_page/map_html.cc: heat maps as a page without any other file, or as one of a server.
#include <fmt/format.h>

#include "lab/heat_page/heat_page.h"
#include "lab/heat_page/live_page.h"
#include "lab/heat_page/page_text.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;

// One map, or a list of several.
std::string ListOfMaps(std::span<const HeatMap> maps, HeatMetric metric) {
  if (maps.size() == 1) return HeatPageMap(maps[0], metric);
  std::string list = "[";
  for (const HeatMap& map : maps) {
    if (list.size() > 1) list += ',';
    list += HeatPageMap(map, metric);
  }
  return list + "]";
}

}  // namespace

std::string LivePageHtml(const LivePage& page) {
  std::string data;
  AppendDataElement("heatmap-live",
                    fmt::format(R"({{"path":"{}","seconds":{},"other":"{}","title":"{}"}})",
                                page.maps_path, page.seconds, page.other_path, page.other_title),
                    &data);
  return HeatPageHtml({.data = data, .script = kLiveScript, .requests_its_server = true});
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string HeatMap::ToHtml(std::span<const HeatMap> maps, HeatMetric metric,
                            std::span<const HeatMap> compared) {
  using internal::lab::AppendDataElement;
  using internal::lab::ListOfMaps;
  std::string data;
  AppendDataElement("heatmap-data", ListOfMaps(maps, metric), &data);
  if (!compared.empty()) AppendDataElement("heatmap-compare", ListOfMaps(compared, metric), &data);
  return internal::lab::HeatPageHtml({.data = data});
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
