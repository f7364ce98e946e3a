// tools/stele/bench/random.h: random numbers and distributions of `stele bench`. The same seed
// gives the same numbers on every machine.
//
// Threads:   Thread-compatible. Each thread has its own objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/workload/random.h"

namespace stele::cli {

using internal::lab::BenchRandom;
using internal::lab::Fnv1a;

// Ranks with a zipfian distribution, the most frequent one first. The generator is the one of
// Gray et al., "Quickly Generating Billion-Record Synthetic Databases", as YCSB uses it.
class Zipfian {
 public:
  // `theta` is in (0, 1). Takes time in proportion to `items`, which is not 0.
  Zipfian(uint64_t items, double theta);
  // Adds items. Takes time in proportion to their number.
  void Grow(uint64_t items);
  // Returns a rank below the number of items.
  uint64_t Next(BenchRandom* random) const;

 private:
  void Update();

  const double theta_;
  uint64_t items_ = 0;
  double zeta_ = 0;  // sum of 1 / i^theta
  double eta_ = 0;
};

// How the row of an operation is chosen.
struct Distribution {
  enum class Kind : uint8_t { kUniform, kZipfian, kLatest, kSequential, kHotspot };
  Kind kind = Kind::kUniform;
  double theta = 0.99;          // of kZipfian and kLatest
  double hot_rows = 0.2;        // kHotspot: the share of the rows
  double hot_operations = 0.8;  // kHotspot: the share of the operations on them
};

// Parses "uniform", "zipfian", "latest", "sequential" or "hotspot:SHARE:OPS".
absl::StatusOr<Distribution> ParseDistribution(std::string_view text);
std::string ToText(const Distribution& distribution);

// Chooses row numbers.
class RowChooser {
 public:
  // `first` is where kSequential starts. `added_rows` were added to `rows` before.
  RowChooser(const Distribution& distribution, uint64_t rows, uint64_t first,
             uint64_t added_rows = 0);
  // Returns a number below `rows`, which has all added rows and must not shrink. Only kLatest
  // chooses rows that were added.
  uint64_t Next(BenchRandom* random, uint64_t rows);

 private:
  const Distribution distribution_;
  const uint64_t rows_;  // without those that were added
  uint64_t known_rows_;
  uint64_t next_;
  Zipfian zipfian_;
};

}  // namespace stele::cli
