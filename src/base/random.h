// base/random.h: a small deterministic generator (SplitMix64) for skip-list heights and tests, and
// seeds from the system.
#pragma once

#include <cstdint>

namespace stele::internal {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform in [0, limit); limit > 0.
  uint64_t Below(uint64_t limit) { return Next() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

// Returns an unpredictable number for database ids, file ids and segment nonces. It comes from
// getrandom. If the system refuses, it is made from the clock, the process and a call counter, and
// is then only distinct, not unpredictable.
uint64_t RandomSeed();

}  // namespace stele::internal
