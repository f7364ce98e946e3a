// facts/distinct_counter.h: counts distinct values, exactly up to 1,000,000 of them and with
// HyperLogLog above.
//
// Threads:   confined to one thread.
// Memory:    at most 10 MB, and 7 MB more for a moment. The count is exact except for collisions of
//            64-bit hashes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hll.h"

namespace stele::internal::lab {

class DistinctCounter {
 public:
  void Add(std::string_view value);
  uint64_t Count() const;
  // False: the count is an estimate with a standard error of 0.81 %.
  bool is_exact() const { return !is_estimate_; }

 private:
  static constexpr uint64_t kExactMax = 1'000'000;

  void AddHash(uint64_t hash);
  void Grow();
  void AddToSketch(uint64_t hash);

  std::vector<uint64_t> slots_;  // open addressing; 0: free
  uint64_t used_ = 0;
  bool is_estimate_ = false;
  HllSketch sketch_;
};

}  // namespace stele::internal::lab
