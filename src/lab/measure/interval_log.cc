#include "lab/measure/interval_log.h"

#include "fmt/format.h"

namespace stele::internal::lab {
namespace {

constexpr double kNanosInMilli = 1e6;

// A tag ends at a comma, and a line at its end.
std::string TagOf(std::string_view name) {
  std::string tag(name);
  for (char& c : tag)
    if (c == ',' || static_cast<unsigned char>(c) <= ' ') c = '_';
  return tag;
}

}  // namespace

void IntervalLog::Record(std::string_view tag, std::chrono::nanoseconds time,
                         uint64_t latency_nanos) {
  const int64_t second = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  seconds_[{second, tag}].Record(latency_nanos);
}

void IntervalLog::Add(const IntervalLog& other) {
  for (const auto& [place, latencies] : other.seconds_) seconds_[place].Add(latencies);
}

std::string IntervalLog::Head() {
  return "#[Histogram log format version 1.3]\n#[StartTime: 0.000 (seconds since the start of each "
         "workload)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
         "\"Interval_Compressed_Histogram\"\n";
}

std::string IntervalLog::Lines(std::string_view prefix) const {
  std::string text;
  for (const auto& [place, latencies] : seconds_) {
    text +=
        fmt::format("Tag={}{},{}.000,1.000,{:.3f},{}\n", prefix, TagOf(place.second), place.first,
                    static_cast<double>(latencies.Max()) / kNanosInMilli, latencies.Encoded());
  }
  return text;
}

}  // namespace stele::internal::lab
