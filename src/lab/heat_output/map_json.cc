#include "lab/heat_output/map_json.h"

#include <fmt/format.h>

#include <cstdlib>

#include "keys/utf8.h"
#include "lab/heat_output/map_values.h"
#include "lab/values/base64.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;
using stele::lab::HeatPattern;

// Appends "NAME":TEXT, or "NAME_base64":TEXT for bytes that are not UTF-8. A terminal may get the
// text, so characters that are invisible or change the direction of text are \uXXXX.
void AppendBytesMember(std::string_view name, std::string_view bytes, std::string* out) {
  if (!FirstNotUtf8(bytes).has_value()) {
    out->append(fmt::format("\"{}\":", name));
    AppendShownJson(bytes, out);
    return;
  }
  out->append(fmt::format("\"{}_base64\":\"", name));
  AppendBase64(bytes, out);
  out->push_back('"');
}

void AppendBands(const HeatMap::Parts& parts, std::string* out) {
  out->append(",\"bands\":[");
  for (const HeatMap::Band& band : parts.bands) {
    out->append(out->back() == '[' ? "{" : ",{");
    AppendBytesMember("start", band.start, out);
    out->push_back(',');
    AppendBytesMember("end", band.end, out);
    out->append(fmt::format(",\"keys\":{}}}", band.keys));
  }
  out->push_back(']');
}

// Appends the shorter one of 1230000 and 1.23e6, with `digits` significant digits; 0: all.
void AppendRounded(double value, int digits, std::string* out) {
  if (digits == 0 || !(value > 0)) return AppendValue(value, out);
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const size_t exponent = text.find('e');
  std::string mantissa = text.substr(0, exponent);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.resize(mantissa.find_last_not_of('0') + 1);
    if (mantissa.ends_with('.')) mantissa.pop_back();
  }
  const std::string short_text =
      fmt::format("{}e{}", mantissa, std::strtol(text.c_str() + exponent + 1, nullptr, 10));
  std::string plain;
  AppendValue(std::strtod(text.c_str(), nullptr), &plain);
  out->append(plain.size() <= short_text.size() ? plain : short_text);
}

void AppendMetrics(const HeatMap& map, int digits, std::string* out) {
  out->append(",\"metrics\":{");
  for (const HeatMetric metric : AllHeatMetrics()) {
    if (!map.has(metric)) continue;
    const int metric_digits = metric > HeatMetric::kWrites ? digits : 0;
    out->append(fmt::format("{}\"{}\":[", out->back() == '{' ? "" : ",", HeatMetricName(metric)));
    for (size_t band = 0; band < map.parts().bands.size(); ++band) {
      out->append(band == 0 ? "[" : ",[");
      for (uint64_t step = 0; step < map.parts().steps; ++step) {
        if (step > 0) out->push_back(',');
        AppendRounded(map.At(metric, band, step), metric_digits, out);
      }
      out->push_back(']');
    }
    out->push_back(']');
  }
  out->push_back('}');
}

void AppendTotals(const HeatMap& map, std::string* out) {
  out->append(",\"totals\":{\"operations\":");
  AppendValue(map.Sum(HeatMetric::kOps), out);
  out->append(",\"reads\":");
  AppendValue(map.Sum(HeatMetric::kReads), out);
  out->append(",\"writes\":");
  AppendValue(map.Sum(HeatMetric::kWrites), out);
  out->push_back('}');
}

void AppendPattern(const HeatPattern& pattern, std::string* out) {
  out->append(fmt::format("{{\"name\":\"{}\",\"severity\":\"{}\",\"rule\":", pattern.name,
                          SeverityText(pattern.severity)));
  out->append(pattern.rule.empty() ? "null" : fmt::format("\"{}\"", pattern.rule));
  out->append(",\"message\":");
  AppendShownJson(pattern.message, out);
  out->append(pattern.is_count ? fmt::format(",\"measured\":{:.0f}", pattern.measured)
                               : fmt::format(",\"measured\":{:.4f}", pattern.measured));
  if (pattern.row.has_value()) {
    out->push_back(',');
    AppendBytesMember("row", *pattern.row, out);
  }
  if (pattern.bands.has_value())
    out->append(fmt::format(",\"bands\":[{},{}]", pattern.bands->first, pattern.bands->second));
  if (pattern.tablet.has_value()) {
    out->push_back(',');
    AppendBytesMember("start", pattern.tablet->first, out);
    out->push_back(',');
    AppendBytesMember("end", pattern.tablet->second, out);
  }
  if (!pattern.direction.empty())
    out->append(fmt::format(",\"direction\":\"{}\"", pattern.direction));
  if (pattern.period_seconds.has_value()) {
    out->append(",\"period_s\":");
    AppendValue(*pattern.period_seconds, out);
  }
  if (pattern.from_step.has_value())
    out->append(fmt::format(",\"from_step\":{}", *pattern.from_step));
  out->push_back('}');
}

}  // namespace

std::string PatternsJson(std::span<const HeatPattern> patterns) {
  std::string out = "[";
  for (const HeatPattern& pattern : patterns) {
    if (out.back() != '[') out += ',';
    AppendPattern(pattern, &out);
  }
  return out + "]";
}

std::string MapJson(const HeatMap& map, HeatMetric metric, int digits) {
  const HeatMap::Parts& parts = map.parts();
  std::string out = "{\"heatmap\":1,";
  AppendBytesMember("table", parts.table, &out);
  out += fmt::format(",\"metric\":\"{}\",\"start_us\":{},\"step_us\":{},\"steps\":{}",
                     HeatMetricName(metric), parts.start_micros, parts.step_micros, parts.steps);
  AppendBands(parts, &out);
  AppendMetrics(map, digits, &out);
  AppendTotals(map, &out);
  out += fmt::format(",\"gini\":{:.4f}", parts.gini);
  if (parts.hottest_operations > 0) {
    out += ",\"hottest_row\":{";
    AppendBytesMember("row", parts.hottest_row, &out);
    out += fmt::format(",\"operations\":{}}}", parts.hottest_operations);
  }
  if (parts.keys_per_known_key > 1)
    out += fmt::format(",\"keys_per_known_key\":{}", parts.keys_per_known_key);
  return out + ",\"patterns\":" + PatternsJson(parts.patterns) + "}";
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string HeatMap::ToJson(HeatMetric metric) const {
  return internal::lab::MapJson(*this, metric, 0);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
