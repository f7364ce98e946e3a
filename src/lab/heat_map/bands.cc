#include "lab/heat_map/bands.h"

#include <algorithm>

#include "lab/heat_map/key_run.h"

namespace stele::internal::lab {
namespace {

// Returns the number of heads below `head`. The loop has no branch that depends on a head, since
// the processor would predict half of them wrongly.
size_t HeadsBelow(const std::vector<uint64_t>& heads, uint64_t head) {
  size_t first = 0;
  size_t count = heads.size();
  while (count > 1) {
    const size_t half = count / 2;
    first += heads[first + half - 1] < head ? half : 0;
    count -= half;
  }
  return first + (count == 1 && heads[first] < head ? 1 : 0);
}

}  // namespace

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
  if (++next_key_ == known_keys_) MakeHeads();
}

void Bands::MakeHeads() {
  if (starts_.size() == 1) return;
  shared_ = starts_[1].substr(0, SharedBytes(starts_[1], starts_.back()));
  for (size_t band = 1; band < starts_.size(); ++band)
    heads_.push_back(HeadOf(starts_[band], shared_.size()));
}

size_t Bands::BandOf(std::string_view key) const {
  const int order = key.substr(0, shared_.size()).compare(shared_);
  if (order != 0 || heads_.empty()) return order < 0 ? 0 : heads_.size();
  const uint64_t head = HeadOf(key, shared_.size());
  const size_t below = HeadsBelow(heads_, head);
  if (below == heads_.size() || heads_[below] != head) return below;
  // The heads do not order the key and this start.
  const auto from = starts_.begin() + 1 + static_cast<ptrdiff_t>(below);
  return static_cast<size_t>(std::upper_bound(from, starts_.end(), key) - starts_.begin()) - 1;
}

size_t Bands::LastBandBelow(std::string_view end) const {
  const auto after = std::lower_bound(starts_.begin() + 1, starts_.end(), end);
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

}  // namespace stele::internal::lab
