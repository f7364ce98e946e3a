#include "lab/heat_output/map_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lab/values/number_text.h"

namespace stele::internal::lab {

using stele::lab::HeatMetric;

std::span<const HeatMetric> AllHeatMetrics() {
  static constexpr HeatMetric kAll[] = {
      HeatMetric::kOps,   HeatMetric::kReads,   HeatMetric::kWrites,   HeatMetric::kRows,
      HeatMetric::kBytes, HeatMetric::kLatency, HeatMetric::kSeenRatio};
  return kAll;
}

std::string TimeText(int64_t micros) {
  constexpr std::string_view kNoFraction = ".000000Z";
  std::string text = Timestamp::FromMicros(micros).ToString();
  if (!text.ends_with(kNoFraction)) return text;
  text.resize(text.size() - kNoFraction.size());
  return text + "Z";
}

std::string WidthText(int64_t micros) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
      {"s", 1'000'000},      {"ms", 1'000},        {"us", 1}};
  for (const auto& [unit, width] : kUnits)
    if (micros % width == 0) return fmt::format("{}{}", micros / width, unit);
  return "";
}

std::string_view SeverityText(stele::lab::HeatSeverity severity) {
  return severity == stele::lab::HeatSeverity::kWarning ? "warning" : "info";
}

double LargestValue(const stele::lab::HeatMap& map, HeatMetric metric) {
  const auto values = map.parts().values.find(metric);
  if (values == map.parts().values.end() || values->second.empty()) return 0;
  return *std::max_element(values->second.begin(), values->second.end());
}

void AppendValue(double value, std::string* out) {
  constexpr double kExactMax = 9e15;
  if (value >= 0 && value < kExactMax && value == std::floor(value)) {
    fmt::format_to(std::back_inserter(*out), "{}", static_cast<uint64_t>(value));
  } else {
    out->append(ShownNumber(value));
  }
}

}  // namespace stele::internal::lab
