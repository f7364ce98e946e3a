#include "bench/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace stele::cli {
namespace {

absl::Status WrongDistribution(std::string_view text) {
  return internal::InvalidArgument(
      "--distribution must be uniform, zipfian, latest, sequential or hotspot:SHARE:OPS with "
      "shares "
      "from 0 to 1, not \"{}\"",
      text);
}

// Returns false unless the text is a number above 0 and at most 1.
bool ParseShare(const std::string& text, double* share) {
  return absl::SimpleAtod(text, share) && *share > 0 && *share <= 1;
}

}  // namespace

Zipfian::Zipfian(uint64_t items, double theta) : theta_(theta) { Grow(items); }

void Zipfian::Grow(uint64_t items) {
  for (; items > 0; --items) zeta_ += 1 / std::pow(static_cast<double>(++items_), theta_);
  Update();
}

void Zipfian::Update() {
  const double zeta_of_two = 1 + std::pow(0.5, theta_);
  eta_ = (1 - std::pow(2.0 / static_cast<double>(items_), 1 - theta_)) / (1 - zeta_of_two / zeta_);
}

uint64_t Zipfian::Next(BenchRandom* random) const {
  const double unit = random->Unit();
  const double area = unit * zeta_;
  if (area < 1 || items_ == 1) return 0;
  if (area < 1 + std::pow(0.5, theta_) || items_ == 2) return 1;
  const double rank =
      static_cast<double>(items_) * std::pow(eta_ * unit - eta_ + 1, 1 / (1 - theta_));
  return std::min(static_cast<uint64_t>(rank), items_ - 1);
}

absl::StatusOr<Distribution> ParseDistribution(std::string_view text) {
  using Kind = Distribution::Kind;
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ':');
  Distribution distribution;
  if (parts[0] == "hotspot") {
    distribution.kind = Kind::kHotspot;
    if (parts.size() != 3 || !ParseShare(parts[1], &distribution.hot_rows) ||
        !ParseShare(parts[2], &distribution.hot_operations))
      return WrongDistribution(text);
    return distribution;
  }
  if (parts.size() != 1) return WrongDistribution(text);
  if (text == "uniform") return distribution;
  if (text == "zipfian") {
    distribution.kind = Kind::kZipfian;
  } else if (text == "latest") {
    distribution.kind = Kind::kLatest;
  } else if (text == "sequential") {
    distribution.kind = Kind::kSequential;
  } else {
    return WrongDistribution(text);
  }
  return distribution;
}

std::string ToText(const Distribution& distribution) {
  switch (distribution.kind) {
    case Distribution::Kind::kUniform:
      return "uniform";
    case Distribution::Kind::kZipfian:
      return fmt::format("zipfian, theta {}", distribution.theta);
    case Distribution::Kind::kLatest:
      return fmt::format("latest, theta {}", distribution.theta);
    case Distribution::Kind::kSequential:
      return "sequential";
    case Distribution::Kind::kHotspot:
      return fmt::format("hotspot, {} of the rows in {} of the operations", distribution.hot_rows,
                         distribution.hot_operations);
  }
  return "";
}

RowChooser::RowChooser(const Distribution& distribution, uint64_t rows, uint64_t first,
                       uint64_t added_rows)
    : distribution_(distribution),
      rows_(rows),
      known_rows_(rows + added_rows),
      next_(first),
      zipfian_(distribution.kind == Distribution::Kind::kZipfian  ? rows
               : distribution.kind == Distribution::Kind::kLatest ? known_rows_
                                                                  : 1,
               distribution.theta) {}

uint64_t RowChooser::Next(BenchRandom* random, uint64_t rows) {
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
      if (random->Unit() < distribution_.hot_operations || hot == rows_) return random->Below(hot);
      return hot + random->Below(rows_ - hot);
    }
  }
  return random->Below(rows_);
}

}  // namespace stele::cli
