#include "lab/figures/figures.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

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

std::string Machine() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} threads, {} {} {}", ::sysconf(_SC_NPROCESSORS_ONLN), name.sysname,
                     name.release, name.machine);
}

}  // namespace stele::internal::lab
