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
// The CPU time of this process, in seconds.
double CpuSeconds();

// Count, extremes, mean, percentiles, and the encoded histogram.
nlohmann::ordered_json HistogramJson(const stele::lab::LatencyHistogram& histogram);

// "2 threads, Linux 6.1.0 x86_64"
std::string Machine();

}  // namespace stele::internal::lab
