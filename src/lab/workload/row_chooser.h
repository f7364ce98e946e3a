// workload/row_chooser.h: distributions of the rows, or records, of a workload.
//
// A header without a source file, so that `stele` has it in a build without the lab.
// Threads:   thread-compatible. Each thread has its own objects.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "lab/workload/random.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// Ranks with a zipfian distribution, the most frequent one first. The generator is the one of
// Gray et al., "Quickly Generating Billion-Record Synthetic Databases", as YCSB uses it.
class Zipfian {
 public:
  // `theta` is in (0, 1). Takes time in proportion to `items`, which is not 0.
  Zipfian(uint64_t items, double theta) : theta_(theta) { Grow(items); }
  // Adds items. Takes time in proportion to their number.
  void Grow(uint64_t items) {
    for (; items > 0; --items) zeta_ += 1 / std::pow(static_cast<double>(++items_), theta_);
    Update();
  }
  // Returns a rank below the number of items.
  uint64_t Next(BenchRandom* random) const {
    const double unit = random->Unit();
    const double area = unit * zeta_;
    if (area < 1 || items_ == 1) return 0;
    if (area < 1 + std::pow(0.5, theta_) || items_ == 2) return 1;
    const double rank =
        static_cast<double>(items_) * std::pow(eta_ * unit - eta_ + 1, 1 / (1 - theta_));
    return std::min(static_cast<uint64_t>(rank), items_ - 1);
  }

 private:
  void Update() {
    const double zeta_of_two = 1 + std::pow(0.5, theta_);
    eta_ =
        (1 - std::pow(2.0 / static_cast<double>(items_), 1 - theta_)) / (1 - zeta_of_two / zeta_);
  }

  const double theta_;
  uint64_t items_ = 0;
  double zeta_ = 0;  // sum of 1 / i^theta
  double eta_ = 0;
};

// Returns the distribution for people: "zipfian, theta 0.99".
inline std::string DistributionText(const stele::lab::RecordDistribution& distribution) {
  using Kind = stele::lab::RecordDistribution::Kind;
  switch (distribution.kind) {
    case Kind::kUniform:
      return "uniform";
    case Kind::kZipfian:
      return fmt::format("zipfian, theta {}", distribution.theta);
    case Kind::kLatest:
      return fmt::format("latest, theta {}", distribution.theta);
    case Kind::kSequential:
      return "sequential";
    case Kind::kHotspot:
      return fmt::format("hotspot, {} of the rows in {} of the operations", distribution.hot_rows,
                         distribution.hot_operations);
  }
  return "";
}

// Chooses row numbers.
class RowChooser {
 public:
  using Distribution = stele::lab::RecordDistribution;

  // `first` is where kSequential starts. `added_rows` were added to `rows` before.
  RowChooser(const Distribution& distribution, uint64_t rows, uint64_t first,
             uint64_t added_rows = 0)
      : distribution_(distribution),
        rows_(rows),
        known_rows_(rows + added_rows),
        next_(first),
        zipfian_(distribution.kind == Distribution::Kind::kZipfian  ? rows
                 : distribution.kind == Distribution::Kind::kLatest ? known_rows_
                                                                    : 1,
                 distribution.theta) {}
  // Returns a number below `rows`. `rows` includes the added rows, and must not shrink. Only
  // kLatest chooses rows that were added.
  uint64_t Next(BenchRandom* random, uint64_t rows) {
    switch (distribution_.kind) {
      case Distribution::Kind::kUniform:
        break;
      case Distribution::Kind::kZipfian:
        return Fnv1a(zipfian_.Next(random)) % rows_;
      case Distribution::Kind::kLatest:
        zipfian_.Grow(rows - known_rows_);
        known_rows_ = rows;
        return rows - 1 - zipfian_.Next(random);
      case Distribution::Kind::kSequential:
        return next_++ % rows_;
      case Distribution::Kind::kHotspot: {
        const auto hot = std::max<uint64_t>(
            1, static_cast<uint64_t>(distribution_.hot_rows * static_cast<double>(rows_)));
        if (random->Unit() < distribution_.hot_operations || hot == rows_)
          return random->Below(hot);
        return hot + random->Below(rows_ - hot);
      }
    }
    return random->Below(rows_);
  }

 private:
  const Distribution distribution_;
  const uint64_t rows_;  // without those that were added
  uint64_t known_rows_;
  uint64_t next_;
  Zipfian zipfian_;
};

}  // namespace stele::internal::lab
