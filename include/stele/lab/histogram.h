// stele/lab/histogram.h: a histogram of latencies with HdrHistogram's layout and formats. Requires
// the library stele::lab.
//
// Units:     nanoseconds, with 3 significant digits. 0 counts as 1, and values above an hour as an
//            hour.
// Threads:   thread-compatible.
// Memory:    261 KiB each. A moved-from histogram can only be assigned or destroyed.
// Source:    HdrHistogram: its V2 encoding, and the percentile output of its tools.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele::inline v0::lab {

// At least `percentile` percent of the values are at most `nanos`.
struct PercentilePoint {
  double percentile = 0;
  uint64_t nanos = 0;
  uint64_t count = 0;  // of the values up to `nanos`
};

class LatencyHistogram {
 public:
  static constexpr uint64_t kMaxNanos = 3'600'000'000'000;

  LatencyHistogram();
  void Record(uint64_t nanos);
  void Add(const LatencyHistogram& other);
  void Clear();

  uint64_t count() const { return count_; }
  uint64_t overflow_count() const { return overflow_count_; }  // values above an hour
  // Without values, these return 0. As in HdrHistogram, the result is the largest value of the
  // bucket, and Min() is the smallest one. `percentile` is from 0 to 100.
  uint64_t ValueAtPercentile(double percentile) const;
  uint64_t Min() const;
  uint64_t Max() const;
  double Mean() const;
  double StandardDeviation() const;

  // The curve of the percentiles. It has 5 points from 0 to 50 %, 5 from 50 to 75 %, and so on:
  // each 5 points cover half of the distance to 100 %. The last point is the maximum, at 100. Empty
  // if there are no values.
  std::vector<PercentilePoint> PercentilePoints() const;
  std::string Encoded() const;  // base64 of the V2 compressed encoding: "HISTFAAA..."
  // The text that HdrHistogram's plotter reads: microseconds, 5 ticks per half distance.
  std::string PercentileText() const;

 private:
  std::string EncodedPayload() const;

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t overflow_count_ = 0;
};

}  // namespace stele::inline v0::lab
