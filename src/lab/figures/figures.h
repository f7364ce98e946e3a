// figures/figures.h: rates, latencies and the machine, as the reports of workloads print them.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "stele/lab/histogram.h"
#include "stele/lab/replay.h"

namespace stele::internal::lab {

double SecondsOf(std::chrono::nanoseconds time);
// Returns 0 if no time passed.
double PerSecond(uint64_t count, std::chrono::nanoseconds time);
// Rounds to one decimal digit.
double Rounded(double number);
double RoundedMicros(double nanos);
double Micros(uint64_t nanos);
// The curve of the percentiles: a list of [percentile, microseconds].
nlohmann::ordered_json PointsJson(const stele::lab::LatencyHistogram& histogram);
nlohmann::ordered_json RatesJson(const stele::lab::OperationRates& rates);
// The curve of the rates: a list of [end of an interval in seconds, operations per second]. A short
// last interval is a part of the one before: a few operations would be a high rate.
nlohmann::ordered_json RatePointsJson(const stele::lab::OperationRates& rates);
// The CPU time of this process, in seconds.
double CpuSeconds();

// Count, extremes, mean, percentiles, and the encoded histogram.
nlohmann::ordered_json HistogramJson(const stele::lab::LatencyHistogram& histogram);

// Returns the machine, such as "2 threads, Linux 6.1.0 x86_64".
std::string Machine();

}  // namespace stele::internal::lab
