// tools/stele/bench/cell_sum.h: sums of the cells that a benchmark reads.
//
// A benchmark that only counts cells would not notice if an engine never decoded their values. So
// `stele bench` and `stele_compare` read both ends of each value, and the names of its column.
//
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stele::cli {

constexpr uint64_t kSumMultiplier = 0x9e3779b97f4a7c15;
constexpr uint64_t kSecondSumMultiplier = 0xd6e8feb86659fd93;

// Returns a hash of the length and the first and last eight bytes, or of all bytes if there are
// fewer than eight.
inline uint64_t EndsOf(std::string_view bytes) {
  uint64_t first = 0;
  uint64_t last = 0;
  if (bytes.size() >= 8) {
    std::memcpy(&first, bytes.data(), 8);
    std::memcpy(&last, bytes.data() + bytes.size() - 8, 8);
  } else {
    for (const char byte : bytes) first = (first << 8) | static_cast<unsigned char>(byte);
  }
  return first + last * 31 + bytes.size();
}

// Returns a hash of a cell. The hashes of several cells are added, so that their order does not
// matter.
inline uint64_t CellSum(std::string_view family, std::string_view qualifier,
                        uint64_t timestamp_micros, std::string_view value) {
  uint64_t bits =
      timestamp_micros ^ (EndsOf(value) + (EndsOf(qualifier) << 7) + (EndsOf(family) << 23));
  bits *= kSumMultiplier;
  return (bits ^ (bits >> 29)) * kSecondSumMultiplier;
}

}  // namespace stele::cli
