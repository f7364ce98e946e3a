// workload/random.h: random numbers and hashes of workloads. The same seed gives the same numbers
// on every machine.
//
// A header without a source file, so that `stele` has it in a build without the lab.
// Threads:   thread-compatible. Each thread has its own objects.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace stele::internal::lab {

// FNV-1a, 64 bits.
inline uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}
// FNV-1a, 64 bits, of the number's 8 bytes in little-endian order.
inline uint64_t Fnv1a(uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return Fnv1a(std::string_view(bytes, sizeof(bytes)));
}

// xoshiro256** by Blackman and Vigna, seeded with four outputs of splitmix64.
class BenchRandom {
 public:
  explicit BenchRandom(uint64_t seed) : state_() {
    Random seeds(seed);
    for (uint64_t& word : state_) word = seeds.Next();
  }

  uint64_t Next() {
    const uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = RotateLeft(state_[3], 45);
    return result;
  }
  // Uniform in [0, 1), with 53 bits.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, bound), by the high half of a product. `bound` is not 0.
  uint64_t Below(uint64_t bound) {
    __extension__ using Product = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Product>(Next()) * bound) >> 64);
  }

 private:
  static uint64_t RotateLeft(uint64_t bits, int count) {
    return (bits << count) | (bits >> (64 - count));
  }

  std::array<uint64_t, 4> state_;
};

}  // namespace stele::internal::lab
