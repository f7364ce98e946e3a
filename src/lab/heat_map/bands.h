// heat_map/bands.h: the bands of a heat map: ranges of rows with the same number of known keys.
//
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal::lab {

class Bands {
 public:
  // `keys`: the number of known keys. There is always at least one band.
  Bands(uint64_t keys, uint64_t bands_max);

  // Must be called for all known keys, in order.
  void AddKnownKey(std::string_view key);

  size_t size() const { return starts_.size(); }
  // The first band begins at "".
  const std::string& start(size_t band) const { return starts_[band]; }
  uint64_t keys(size_t band) const { return keys_[band]; }
  // The first known key of a band; "" if none is known.
  const std::string& first_key(size_t band) const { return band == 0 ? first_key_ : starts_[band]; }

  // Call it, and LastBandBelow(), after the last AddKnownKey().
  size_t BandOf(std::string_view key) const;
  // The band of the greatest known key below `end`, or the first band.
  size_t LastBandBelow(std::string_view end) const;

 private:
  void MakeHeads();

  const uint64_t known_keys_;
  const uint64_t count_;
  uint64_t next_key_ = 0;  // the number of the next known key
  std::string first_key_;
  std::vector<std::string> starts_;
  std::vector<uint64_t> keys_;
  // For BandOf(): the bytes that all starts but the first one share, and their next bytes.
  std::string shared_;
  std::vector<uint64_t> heads_;
};

// The first band of a range, and the last one.
struct BandRange {
  size_t first = 0;
  size_t last = 0;
};

}  // namespace stele::internal::lab
