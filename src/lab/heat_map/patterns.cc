#include "lab/heat_map/patterns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/status.h"
#include "lab/heat_map/statistics.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;
using stele::lab::HeatPattern;
using stele::lab::HeatSeverity;

constexpr size_t kBandsMin = 10;  // with fewer bands, no pattern of bands is reported
constexpr size_t kShownColumns = 60;
constexpr double kMicrosPerSecond = 1e6;

std::string Quoted(std::string_view key) { return '"' + ShownText(key, kShownColumns) + '"'; }

// What the patterns are found in.
struct Sums {
  explicit Sums(const HeatMap::Parts& map)
      : parts(map), bands(map.bands.size()), by_band(OperationsByBand(map)), by_step(map.steps) {
    const std::vector<double>& ops = parts.values.at(HeatMetric::kOps);
    for (size_t i = 0; i < ops.size(); ++i) by_step[i / bands] += ops[i];
    total = std::accumulate(by_step.begin(), by_step.end(), 0.0);
  }

  const HeatMap::Parts& parts;
  const size_t bands;
  std::vector<double> by_band;
  std::vector<double> by_step;
  double total = 0;
};

std::optional<HeatPattern> FindHotRow(const Sums& sums) {
  const auto operations = static_cast<double>(sums.parts.hottest_operations);
  if (operations < 100 || operations < 0.2 * sums.total) return std::nullopt;
  const std::string& row = sums.parts.hottest_row;
  const double share = operations / sums.total;
  return HeatPattern{
      .name = "hot-row",
      .severity = HeatSeverity::kWarning,
      .rule = "KEY-HOT-ROW",
      .message = fmt::format("{}  {} of all operations", Quoted(row), Percent(share)),
      .measured = share,
      .row = row};
}

std::optional<HeatPattern> FindHotRange(const Sums& sums, const PatternFacts& facts,
                                        bool has_hot_row) {
  if (sums.bands < kBandsMin || sums.total < 100) return std::nullopt;
  const size_t width = sums.bands / 10;
  double sum = std::accumulate(sums.by_band.begin(),
                               sums.by_band.begin() + static_cast<ptrdiff_t>(width), 0.0);
  double largest = sum;
  size_t first = 0;
  for (size_t next = width; next < sums.bands; ++next) {
    sum += sums.by_band[next] - sums.by_band[next - width];
    if (sum <= largest) continue;
    largest = sum;
    first = next - width + 1;
  }
  if (largest < 0.5 * sums.total) return std::nullopt;
  const bool has_row = facts.hottest_band >= first && facts.hottest_band < first + width;
  if (has_hot_row && has_row && static_cast<double>(sums.parts.hottest_operations) >= 0.5 * largest)
    return std::nullopt;
  const double share = largest / sums.total;
  return HeatPattern{.name = "hot-range",
                     .severity = HeatSeverity::kWarning,
                     .rule = "LOAD-SKEW",
                     .message = fmt::format("bands {} to {}, from {}: {} of all operations", first,
                                            first + width - 1,
                                            Quoted(sums.parts.bands[first].start), Percent(share)),
                     .measured = share,
                     .bands = {{first, first + width - 1}}};
}

std::optional<HeatPattern> FindHotTablet(const Sums& sums, const PatternFacts& facts) {
  if (facts.tablets.size() < 2 || sums.total == 0) return std::nullopt;
  const auto hottest = std::max_element(
      facts.tablets.begin(), facts.tablets.end(),
      [](const TabletLoad& a, const TabletLoad& b) { return a.operations < b.operations; });
  uint64_t keys = 0;
  for (const TabletLoad& tablet : facts.tablets) keys += tablet.keys;
  const double share = hottest->operations / sums.total;
  const double key_share =
      keys == 0 ? 0 : static_cast<double>(hottest->keys) / static_cast<double>(keys);
  if (share < 0.5 || key_share > share / 2) return std::nullopt;
  return HeatPattern{
      .name = "hot-tablet",
      .severity = HeatSeverity::kWarning,
      .rule = "LOAD-SKEW",
      .message = fmt::format("the tablet from {}: {} of all operations, {} of the keys",
                             Quoted(hottest->start), Percent(share), Percent(key_share)),
      .measured = share,
      .tablet = {{hottest->start, hottest->end}}};
}

// The mean band of the operations of one step, and its standard deviation.
struct Place {
  double mean = 0;
  double deviation = 0;
};

std::optional<Place> PlaceOf(std::span<const double> by_band) {
  const double sum = std::accumulate(by_band.begin(), by_band.end(), 0.0);
  if (sum == 0) return std::nullopt;
  // Both sums of a trace are whole numbers. So steps with the same mean have the same double, and
  // the same rank.
  double weighted = 0;
  for (size_t band = 0; band < by_band.size(); ++band)
    weighted += static_cast<double>(band) * by_band[band];
  Place place = {.mean = weighted / sum};
  double variance = 0;
  for (size_t band = 0; band < by_band.size(); ++band) {
    const double distance = static_cast<double>(band) - place.mean;
    variance += distance * distance * by_band[band] / sum;
  }
  place.deviation = std::sqrt(variance);
  return place;
}

std::optional<HeatPattern> FindSequence(const Sums& sums, HeatMetric metric) {
  if (sums.bands < kBandsMin) return std::nullopt;
  const std::vector<double>& values = sums.parts.values.at(metric);
  std::vector<double> means;
  std::vector<double> deviations;
  for (size_t first = 0; first < values.size(); first += sums.bands) {
    const auto place = PlaceOf(std::span(values).subspan(first, sums.bands));
    if (!place.has_value()) continue;
    means.push_back(place->mean);
    deviations.push_back(place->deviation);
  }
  if (means.size() < 8) return std::nullopt;
  const auto bands = static_cast<double>(sums.bands);
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  const double correlation = RankCorrelationWithOrder(means);
  if (std::abs(correlation) < 0.9 || MeanOf(deviations) / bands > 0.15 ||
      (*most - *least) / bands < 0.3)
    return std::nullopt;
  const bool are_writes = metric == HeatMetric::kWrites;
  const std::string direction = correlation > 0 ? "ascending" : "descending";
  return HeatPattern{.name = are_writes ? "sequential-writes" : "sequential-reads",
                     .severity = are_writes ? HeatSeverity::kWarning : HeatSeverity::kInfo,
                     .rule = "KEY-MONOTONE",
                     .message = fmt::format("{} by key over time, rank correlation {:.2f}",
                                            direction, std::abs(correlation)),
                     .measured = std::abs(correlation),
                     .direction = direction};
}

std::optional<HeatPattern> FindFullScans(const Sums& sums, const PatternFacts& facts) {
  if (sums.bands < kBandsMin || facts.full_scans == 0) return std::nullopt;
  return HeatPattern{
      .name = "full-scan",
      .severity = HeatSeverity::kWarning,
      .rule = "KEY-FULL-SCAN",
      .message = Counted(facts.full_scans, "scan") + " of at least half of the bands",
      .measured = static_cast<double>(facts.full_scans),
      .is_count = true};
}

std::optional<HeatPattern> FindPeriod(const Sums& sums) {
  const std::span<const double> counts(sums.by_step);
  const double mean = MeanOf(counts);
  if (counts.size() < 16 || DeviationOf(counts) < 0.5 * mean) return std::nullopt;
  int crossings = 0;
  for (size_t i = 1; i < counts.size(); ++i)
    if ((counts[i] > mean) != (counts[i - 1] > mean)) ++crossings;
  if (crossings < 4) return std::nullopt;
  for (size_t lag = 2; lag <= counts.size() / 3; ++lag) {
    const double correlation =
        CorrelationOf(counts.first(counts.size() - lag), counts.subspan(lag));
    if (correlation < 0.8) continue;
    const double seconds =
        static_cast<double>(lag) * static_cast<double>(sums.parts.step_micros) / kMicrosPerSecond;
    return HeatPattern{.name = "periodic",
                       .message = fmt::format("every {}s", ShownNumber(seconds)),
                       .measured = correlation,
                       .period_seconds = seconds};
  }
  return std::nullopt;
}

std::optional<HeatPattern> FindSurge(const Sums& sums) {
  constexpr size_t kSideMin = 4;
  const std::vector<double>& counts = sums.by_step;
  if (counts.size() < 2 * kSideMin) return std::nullopt;
  std::vector<double> least_after(counts);  // the smallest count from a step on
  for (size_t i = counts.size() - 1; i > 0; --i)
    least_after[i - 1] = std::min(least_after[i - 1], least_after[i]);
  double before = 0;
  double most_before = 0;
  double largest = 0;
  size_t cut = 0;
  for (size_t i = 0; i + kSideMin < counts.size(); ++i) {
    before += counts[i];
    most_before = std::max(most_before, counts[i]);
    const size_t after = i + 1;  // the first step after the cut
    if (after < kSideMin || before == 0 || least_after[after] < 2 * most_before) continue;
    const double mean_after = (sums.total - before) / static_cast<double>(counts.size() - after);
    const double ratio = mean_after / (before / static_cast<double>(after));
    if (ratio < 5 || ratio <= largest) continue;
    largest = ratio;
    cut = after;
  }
  if (largest == 0) return std::nullopt;
  const auto time = Timestamp::FromMicros(sums.parts.start_micros +
                                          static_cast<int64_t>(cut) * sums.parts.step_micros);
  return HeatPattern{
      .name = "surge",
      .message = fmt::format("{} times as many operations from {} on",
                             ShownNumber(std::round(largest * 10) / 10), time.ToString()),
      .measured = largest,
      .from_step = cut};
}

std::optional<HeatPattern> FindIdleBands(const Sums& sums) {
  const auto idle = static_cast<size_t>(std::count(sums.by_band.begin(), sums.by_band.end(), 0.0));
  if (sums.total != 0 && (sums.bands < kBandsMin || 2 * idle < sums.bands)) return std::nullopt;
  return HeatPattern{.name = "idle",
                     .message = fmt::format("{} of {} have no operation", WithCommas(idle),
                                            Counted(sums.bands, "band")),
                     .measured = static_cast<double>(idle),
                     .is_count = true};
}

}  // namespace

std::vector<double> OperationsByBand(const HeatMap::Parts& map) {
  std::vector<double> by_band(map.bands.size());
  const std::vector<double>& ops = map.values.at(HeatMetric::kOps);
  for (size_t i = 0; i < ops.size(); ++i) by_band[i % by_band.size()] += ops[i];
  return by_band;
}

std::vector<HeatPattern> FindPatterns(const HeatMap::Parts& map, const PatternFacts& facts) {
  const Sums sums(map);
  std::vector<HeatPattern> patterns;
  const auto add = [&](std::optional<HeatPattern> pattern) {
    if (pattern.has_value()) patterns.push_back(*std::move(pattern));
  };
  add(FindHotRow(sums));
  add(FindHotRange(sums, facts, !patterns.empty()));
  add(FindHotTablet(sums, facts));
  add(FindSequence(sums, HeatMetric::kWrites));
  add(FindSequence(sums, HeatMetric::kReads));
  add(FindFullScans(sums, facts));
  add(FindPeriod(sums));
  add(FindSurge(sums));
  add(FindIdleBands(sums));
  const double gini = GiniOf(sums.by_band);
  if (patterns.empty() && gini <= 0.5)
    patterns.push_back({.name = "even",
                        .message = fmt::format("Gini coefficient {:.2f}", gini),
                        .measured = gini});
  return patterns;
}

}  // namespace stele::internal::lab
