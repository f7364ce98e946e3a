// facts/frequent_items.h: finds the most frequent items of a stream in bounded memory.
//
// Threads:   thread-compatible.
// Memory:    at most 20,000 items of at most 256 bytes. Items with the same first 256 bytes count
//            as one.
// Source:    Misra, Gries: Finding repeated elements (1982). Up to the maximum of different items,
//            all counts are exact; above it, they are too small by at most a 20,000th of the sum.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stele::internal::lab {

class FrequentItems {
 public:
  void Add(std::string_view item, uint64_t count);

  // The number of different items; a lower bound if there are too many to count.
  uint64_t distinct() const { return distinct_; }
  // The most frequent item and its count; the smallest item if several have it.
  struct Item {
    std::string text;
    uint64_t count = 0;
  };
  Item Largest() const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint64_t, TextHash, std::equal_to<>> counts_;
  uint64_t distinct_ = 0;
};

}  // namespace stele::internal::lab
