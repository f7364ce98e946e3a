// facts/count_histogram.h: a histogram of counts with three significant digits, and fewer if it has
// very many different values.
//
// Threads:   thread-compatible.
// Memory:    16 bytes per bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stele::internal::lab {

class CountHistogram {
 public:
  explicit CountHistogram(size_t buckets_max = 512) : buckets_max_(buckets_max) {}

  void Add(uint64_t value);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  // The value at this share of the values, by the nearest-rank method. 0 if there is no value.
  uint64_t Percentile(double share) const;

 private:
  uint64_t Rounded(uint64_t value) const;
  void Coarsen();

  // The largest value of each bucket and its count, ascending.
  std::vector<std::pair<uint64_t, uint64_t>> buckets_;
  size_t buckets_max_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  int precision_bits_ = 11;  // values below 2^11 are exact
};

}  // namespace stele::internal::lab
