#include "bench/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace stele::cli {
namespace {

uint64_t SplitMix(uint64_t* state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

uint64_t RotateLeft(uint64_t bits, int count) { return (bits << count) | (bits >> (64 - count)); }

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

uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

uint64_t Fnv1a(uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return Fnv1a(std::string_view(bytes, sizeof(bytes)));
}

BenchRandom::BenchRandom(uint64_t seed) : state_() {
  for (uint64_t& word : state_) word = SplitMix(&seed);
}

uint64_t BenchRandom::Next() {
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

double BenchRandom::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

uint64_t BenchRandom::Below(uint64_t bound) {
  __extension__ using Product = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Product>(Next()) * bound) >> 64);
}

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
