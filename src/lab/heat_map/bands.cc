#include "lab/heat_map/bands.h"

#include <algorithm>

namespace stele::internal::lab {

Bands::Bands(uint64_t keys, uint64_t bands_max)
    : known_keys_(keys),
      count_(std::max<uint64_t>(1, std::min(keys, bands_max))),
      starts_{""},
      keys_{0} {}

void Bands::AddKnownKey(std::string_view key) {
  // Key number i is in band floor(i * B / K). Both factors are small enough for 64 bits.
  const uint64_t band = next_key_ * count_ / known_keys_;
  if (next_key_ == 0) first_key_ = key;
  if (band == starts_.size()) {
    starts_.emplace_back(key);
    keys_.push_back(0);
  }
  ++keys_.back();
  ++next_key_;
}

size_t Bands::BandOf(std::string_view key) const {
  const auto after = std::upper_bound(starts_.begin() + 1, starts_.end(), key);
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

size_t Bands::LastBandBelow(std::string_view end) const {
  const auto after = std::lower_bound(starts_.begin() + 1, starts_.end(), end);
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

}  // namespace stele::internal::lab
