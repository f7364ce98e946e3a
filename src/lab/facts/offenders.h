// facts/offenders.h: the rows that exceed a limit: how many, and the first three.
//
// Threads:   values; thread-compatible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal::lab {

inline constexpr size_t kFindingSamplesMax = 3;
// A longer sample is cut.
inline constexpr size_t kSampleBytesMax = 4096;

struct Offenders {
  uint64_t count = 0;
  uint64_t max = 0;  // of all values that Check() got
  std::vector<std::string> samples;

  void Add(std::string_view sample) {
    ++count;
    if (samples.size() < kFindingSamplesMax)
      samples.emplace_back(sample.substr(0, kSampleBytesMax));
  }
  // Adds the row if `value` exceeds the limit.
  void Check(uint64_t value, double limit, std::string_view row_key) {
    max = std::max(max, value);
    if (static_cast<double>(value) > limit) Add(row_key);
  }
};

}  // namespace stele::internal::lab
