// measure/interval_counts.h: counts the operations that ended, or were due, in each interval of a
// run.
//
// Memory:    at most kIntervalsMax counts. In a longer run two neighbouring intervals become one.
// Threads:   thread-compatible. Each thread of a run has its own; Add merges them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stele::internal::lab {

class IntervalCounts {
 public:
  static constexpr size_t kIntervalsMax = 256;
  static constexpr std::chrono::nanoseconds kWidthMin = std::chrono::milliseconds(1);

  // Counts an operation. `time`: since the start of the run, at least 0.
  void Record(std::chrono::nanoseconds time);
  void Add(const IntervalCounts& other);

  // The width of each interval: kWidthMin times a power of two.
  std::chrono::nanoseconds width() const { return width_; }
  // The first interval begins with the run. The last one has an operation.
  const std::vector<uint64_t>& counts() const { return counts_; }
  // The end of the last interval.
  std::chrono::nanoseconds time() const { return width_ * static_cast<int64_t>(counts_.size()); }

 private:
  // Doubles the width.
  void Widen();

  std::chrono::nanoseconds width_ = kWidthMin;
  std::vector<uint64_t> counts_;
};

}  // namespace stele::internal::lab
