#include "lab/figures/figures.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace stele::internal::lab {
namespace {

constexpr double kNanosInMicro = 1000;

}  // namespace

double SecondsOf(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double PerSecond(uint64_t count, std::chrono::nanoseconds time) {
  return time.count() > 0 ? static_cast<double>(count) / SecondsOf(time) : 0;
}

double Rounded(double number) { return std::round(number * 10) / 10; }

double RoundedMicros(double nanos) { return Rounded(nanos / kNanosInMicro); }

double Micros(uint64_t nanos) { return RoundedMicros(static_cast<double>(nanos)); }

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

nlohmann::ordered_json HistogramJson(const stele::lab::LatencyHistogram& histogram) {
  return {{"count", histogram.count()},
          {"min", Micros(histogram.Min())},
          {"max", Micros(histogram.Max())},
          {"mean", RoundedMicros(histogram.Mean())},
          {"stdev", RoundedMicros(histogram.StandardDeviation())},
          {"p50", Micros(histogram.ValueAtPercentile(50))},
          {"p90", Micros(histogram.ValueAtPercentile(90))},
          {"p99", Micros(histogram.ValueAtPercentile(99))},
          {"p999", Micros(histogram.ValueAtPercentile(99.9))},
          {"p9999", Micros(histogram.ValueAtPercentile(99.99))},
          {"above_an_hour", histogram.overflow_count()},
          {"histogram", histogram.Encoded()}};
}

nlohmann::ordered_json PointsJson(const stele::lab::LatencyHistogram& histogram) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const stele::lab::PercentilePoint& point : histogram.PercentilePoints())
    points.push_back({point.percentile, Micros(point.nanos)});
  return points;
}

nlohmann::ordered_json RatesJson(const stele::lab::OperationRates& rates) {
  const auto micros = [](std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  };
  return {{"interval_us", micros(rates.interval)},
          {"time_us", micros(rates.time)},
          {"operations", rates.operations}};
}

nlohmann::ordered_json RatePointsJson(const stele::lab::OperationRates& rates) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  std::chrono::nanoseconds begin{0};
  uint64_t operations = 0;
  for (size_t i = 0; i < rates.operations.size(); ++i) {
    operations += rates.operations[i];
    const auto end = std::min(rates.interval * static_cast<int64_t>(i + 1), rates.time);
    if (i + 1 < rates.operations.size() && rates.time - end < rates.interval / 2) continue;
    points.push_back({SecondsOf(end), Rounded(PerSecond(operations, end - begin))});
    begin = end;
    operations = 0;
  }
  return points;
}

std::string Machine() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} threads, {} {} {}", ::sysconf(_SC_NPROCESSORS_ONLN), name.sysname,
                     name.release, name.machine);
}

}  // namespace stele::internal::lab
