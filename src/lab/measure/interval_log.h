// measure/interval_log.h: the latencies of each second of a run.
//
// Format:    HdrHistogram's interval log, version 1.3: one line per tag and second.
// Threads:   thread-compatible. Each thread of a run has its own; Add merges them.
// Source:    HdrHistogram's HistogramLogWriter.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stele/lab/histogram.h"

namespace stele::internal::lab {

class IntervalLog {
 public:
  // `tag` must outlive the log. `time`: since the start of the run.
  void Record(std::string_view tag, std::chrono::nanoseconds time, uint64_t latency_nanos);
  void Add(const IntervalLog& other);

  // The first lines of a file.
  static std::string Head();
  // The lines of this run. `prefix` precedes each tag.
  std::string Lines(std::string_view prefix) const;

 private:
  std::map<std::pair<int64_t, std::string_view>, stele::lab::LatencyHistogram> seconds_;
};

}  // namespace stele::internal::lab
