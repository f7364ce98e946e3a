#include "lab/heat_map/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stele::internal::lab {
namespace {

// Constant lists have no exact variance of zero after rounding.
constexpr double kNoVariance = 1e-12;

std::vector<double> MeanRanks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t after = first;
    while (after < order.size() && values[order[after]] == values[order[first]]) ++after;
    const double rank = static_cast<double>(first + after + 1) / 2;
    for (; first < after; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

}  // namespace

double MeanOf(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double DeviationOf(std::span<const double> values) {
  if (values.empty()) return 0;
  const double mean = MeanOf(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double GiniOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double ranked = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    ranked += static_cast<double>(i + 1) * values[i];
  }
  if (sum == 0) return 0;
  return std::max(0.0, 2 * ranked / (count * sum) - (count + 1) / count);
}

double CorrelationOf(std::span<const double> x, std::span<const double> y) {
  const double mean_x = MeanOf(x);
  const double mean_y = MeanOf(y);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double least = kNoVariance * static_cast<double>(x.size());
  if (xx <= least * mean_x * mean_x || yy <= least * mean_y * mean_y) return 0;
  return xy / std::sqrt(xx * yy);
}

double RankCorrelationWithOrder(std::span<const double> values) {
  std::vector<double> order(values.size());
  std::iota(order.begin(), order.end(), 1.0);
  return CorrelationOf(MeanRanks(values), order);
}

}  // namespace stele::internal::lab
