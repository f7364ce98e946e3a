#include "lab/heat_page/heat_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "lab/heat_output/map_json.h"
#include "lab/heat_output/palette.h"
#include "lab/heat_page/page_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;

constexpr size_t kDataBytesMax = 1'900'000;
constexpr size_t kBytesPerCellMax = kDataBytesMax / (256 * 240);
constexpr int kRoundedDigits = 3;

std::string PaletteJson() {
  std::string list = "[";
  for (size_t i = 0; i < 256; ++i) {
    const Color color = InfernoColor(i);
    list += fmt::format("{}\"#{:02x}{:02x}{:02x}\"", i == 0 ? "" : ",", color.red, color.green,
                        color.blue);
  }
  return list + "]";
}

}  // namespace

std::string HeatPageHtml(const HeatPage& page) {
  std::string data(page.data);
  AppendDataElement("heatmap-palette", PaletteJson(), &data);
  std::string script(kHeatMapScript);
  if (!page.script.empty()) script.append("</script>\n<script>\n").append(page.script);
  return FillMarks(kHeatMapPage,
                   {{"@TITLE@", page.title},
                    {"@CONNECT@", page.requests_its_server ? "; connect-src 'self'" : ""},
                    {"@STYLE@", page.style},
                    {"@BEGINNING@", page.beginning},
                    {"@DATA@", data},
                    {"@SCRIPT@", script}});
}

std::string FillMarks(std::string_view text,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> parts) {
  std::string filled;
  while (!text.empty()) {
    const size_t mark = std::min(text.find('@'), text.size());
    filled += text.substr(0, mark);
    text.remove_prefix(mark);
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& each) { return text.starts_with(each.first); });
    if (part != parts.end()) {
      filled += part->second;
      text.remove_prefix(part->first.size());
    } else if (!text.empty()) {
      filled += text.front();  // an @ of CSS
      text.remove_prefix(1);
    }
  }
  return filled;
}

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

std::string HeatPageMap(const HeatMap& map, HeatMetric metric) {
  std::string json = map.ToJson(metric);
  const size_t cells = map.parts().bands.size() * map.parts().steps;
  const size_t bytes_max = std::max(kDataBytesMax, cells * kBytesPerCellMax);
  for (int digits = kRoundedDigits; digits > 0 && json.size() > bytes_max; --digits)
    json = MapJson(map, metric, digits);
  return json;
}

}  // namespace stele::internal::lab
