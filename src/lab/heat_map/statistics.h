// heat_map/statistics.h: measures of lists of numbers.
//
// Threads:   pure functions.
#pragma once

#include <span>
#include <vector>

namespace stele::internal::lab {

double MeanOf(std::span<const double> values);       // 0 if there are none
double DeviationOf(std::span<const double> values);  // the standard deviation of all values
// The Gini coefficient: 2 * sum(i * x_i) / (n * sum(x)) - (n + 1) / n, x ascending, i from 1. It is
// 0 if all values are equal or the sum is 0, and nearly 1 if one value is nearly the whole sum.
double GiniOf(std::vector<double> values);
// Pearson's correlation. 0 if one of the lists is constant.
double CorrelationOf(std::span<const double> x, std::span<const double> y);
// Spearman's correlation of the values and their positions; ties have their mean rank.
double RankCorrelationWithOrder(std::span<const double> values);

}  // namespace stele::internal::lab
