// trace/space_saving.h: counts items in bounded memory. A count may be too large, but never too
// small.
//
// Threads:   thread-compatible.
// Memory:    72 bytes per item.
// Source:    Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in
//            Data Streams (2005). Up to the maximum of different items, all counts are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stele::internal::lab {

class SpaceSaving {
 public:
  explicit SpaceSaving(size_t items_max) : items_max_(items_max) {}

  struct Estimate {
    uint64_t count = 0;  // at least the true count
    uint64_t error = 0;  // `count` exceeds the true count by at most this
  };
  // Adds to the count of an item, which is a hash. Returns its estimate.
  Estimate Add(uint64_t item, uint64_t count);
  void Clear();

 private:
  struct Counter {
    uint64_t item = 0;
    Estimate estimate = {};
  };

  // Moves a counter whose count has grown to its place in the heap.
  void SiftDown(size_t place);
  void MakeHeap();

  const size_t items_max_;
  // A heap with the smallest count first, once all places are taken.
  std::vector<Counter> counters_;
  std::unordered_map<uint64_t, size_t> places_;
  bool is_heap_ = false;
};

}  // namespace stele::internal::lab
