// tools/stele/bench/histogram.h: a latency histogram with HdrHistogram's layout and formats.
//
// Values are nanoseconds from 1 to an hour, with 3 significant digits. Larger values count as an
// hour.
// Threads:   Thread-compatible.
// Source:    HdrHistogram, V2 encoding; HdrHistogram.NET's and Java's percentile output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stele::cli {

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
  // These return 0 if there are no values. As in HdrHistogram, the result is the largest value of
  // the bucket; min and max are those of the buckets of recorded values.
  uint64_t ValueAtPercentile(double percentile) const;
  uint64_t Min() const;
  uint64_t Max() const;
  double Mean() const;
  double StandardDeviation() const;

  // The curve of the percentiles: 5 points until half of the rest to 100 % is reached, and so on.
  // The last point is the maximum, at 100. Empty if there are no values.
  std::vector<PercentilePoint> PercentilePoints() const;
  // Base64 of the V2 compressed encoding: "HISTFAAA...".
  std::string Encoded() const;
  // The text that HdrHistogram's plotter reads: microseconds, 5 ticks per half distance.
  std::string PercentileText() const;

 private:
  std::string EncodedPayload() const;

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t overflow_count_ = 0;
};

}  // namespace stele::cli
