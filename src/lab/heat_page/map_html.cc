// heat_page/map_html.cc: heat maps as a page without any other file.
#include <fmt/format.h>

#include <algorithm>

#include "lab/heat_output/map_json.h"
#include "lab/heat_output/palette.h"
#include "lab/heat_page/live_page.h"
#include "lab/heat_page/page_text.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;

// A page of 256 x 240 cells must have less than 2 MiB.
constexpr size_t kDataBytesMax = 1'900'000;
constexpr size_t kBytesPerCellMax = kDataBytesMax / (256 * 240);
constexpr int kRoundedDigits = 3;

// Numbers are rounded only if they make the page too large.
std::string DataOf(const HeatMap& map, HeatMetric metric) {
  std::string json = map.ToJson(metric);
  const size_t cells = map.parts().bands.size() * map.parts().steps;
  const size_t bytes_max = std::max(kDataBytesMax, cells * kBytesPerCellMax);
  for (int digits = kRoundedDigits; digits > 0 && json.size() > bytes_max; --digits)
    json = MapJson(map, metric, digits);
  return json;
}

// Appends a script element with JSON. No text in it can end the element.
void AppendDataElement(std::string_view id, std::string_view json, std::string* out) {
  out->append(fmt::format("<script type=\"application/json\" id=\"{}\">", id));
  for (size_t at = 0; at < json.size();) {
    const size_t bracket = std::min(json.find('<', at), json.size());
    out->append(json.substr(at, bracket - at));
    if (bracket < json.size()) out->append("\\u003c");
    at = bracket + 1;
  }
  out->append("</script>\n");
}

// One map, or a list of several.
std::string ListOfMaps(std::span<const HeatMap> maps, HeatMetric metric) {
  if (maps.size() == 1) return DataOf(maps[0], metric);
  std::string list = "[";
  for (const HeatMap& map : maps) {
    if (list.size() > 1) list += ',';
    list += DataOf(map, metric);
  }
  return list + "]";
}

std::string PaletteJson() {
  std::string list = "[";
  for (size_t i = 0; i < 256; ++i) {
    const Color color = InfernoColor(i);
    list += fmt::format("{}\"#{:02x}{:02x}{:02x}\"", i == 0 ? "" : ",", color.red, color.green,
                        color.blue);
  }
  return list + "]";
}

// Returns the page with `data`, script elements of JSON, and the palette.
std::string PageOf(std::string_view data) {
  constexpr std::string_view kDataMark = "@DATA@\n";
  constexpr std::string_view kScriptMark = "@SCRIPT@\n";
  const std::string_view page = kHeatMapPage;
  const size_t data_at = page.find(kDataMark);
  const size_t script_at = page.find(kScriptMark);
  std::string out(page.substr(0, data_at));
  out += data;
  AppendDataElement("heatmap-palette", PaletteJson(), &out);
  out += page.substr(data_at + kDataMark.size(), script_at - data_at - kDataMark.size());
  out += kHeatMapScript;
  return out + std::string(page.substr(script_at + kScriptMark.size()));
}

}  // namespace

std::string LivePageHtml(const LivePage& page) {
  std::string data;
  AppendDataElement("heatmap-live",
                    fmt::format(R"({{"path":"{}","seconds":{},"other":"{}","title":"{}"}})",
                                page.maps_path, page.seconds, page.other_path, page.other_title),
                    &data);
  std::string html = PageOf(data);
  constexpr std::string_view kScriptEnd = "</script>\n</body>";
  html.insert(html.rfind(kScriptEnd), fmt::format("</script>\n<script>\n{}", kLiveScript));
  constexpr std::string_view kNoRequests = "img-src data:\">";
  html.replace(html.find(kNoRequests), kNoRequests.size(), "img-src data:; connect-src 'self'\">");
  return html;
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
  return internal::lab::PageOf(data);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
