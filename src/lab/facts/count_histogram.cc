#include "lab/facts/count_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stele::internal::lab {
namespace {

// Four buckets per power of two, so at most 256.
constexpr int kPrecisionBitsMin = 3;

}  // namespace

// The largest value of the bucket.
uint64_t CountHistogram::Rounded(uint64_t value) const {
  const int excess = static_cast<int>(std::bit_width(value)) - precision_bits_;
  return excess <= 0 ? value : value | ((uint64_t{1} << excess) - 1);
}

void CountHistogram::Coarsen() {
  --precision_bits_;
  std::vector<std::pair<uint64_t, uint64_t>> merged;
  for (const auto& [value, count] : buckets_) {
    const uint64_t rounded = Rounded(value);
    if (!merged.empty() && merged.back().first == rounded) {
      merged.back().second += count;
    } else {
      merged.emplace_back(rounded, count);
    }
  }
  buckets_ = std::move(merged);
}

void CountHistogram::Add(uint64_t value) {
  ++count_;
  max_ = std::max(max_, value);
  const uint64_t rounded = Rounded(value);
  const auto place =
      std::lower_bound(buckets_.begin(), buckets_.end(), rounded,
                       [](const auto& bucket, uint64_t wanted) { return bucket.first < wanted; });
  if (place != buckets_.end() && place->first == rounded) {
    ++place->second;
    return;
  }
  buckets_.insert(place, {rounded, 1});
  while (buckets_.size() > buckets_max_ && precision_bits_ > kPrecisionBitsMin) Coarsen();
}

uint64_t CountHistogram::Percentile(double share) const {
  const auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  uint64_t passed = 0;
  for (const auto& [value, count] : buckets_) {
    passed += count;
    if (passed >= std::max<uint64_t>(rank, 1)) return std::min(value, max_);
  }
  return max_;
}

}  // namespace stele::internal::lab
