#include "lab/measure/interval_counts.h"

#include <algorithm>

namespace stele::internal::lab {

void IntervalCounts::Record(std::chrono::nanoseconds time) {
  auto interval = static_cast<uint64_t>(time / width_);
  while (interval >= kIntervalsMax) {
    Widen();
    interval /= 2;
  }
  if (counts_.size() <= interval) counts_.resize(interval + 1);
  ++counts_[interval];
}

void IntervalCounts::Add(const IntervalCounts& other) {
  IntervalCounts added = other;
  while (width_ < added.width_) Widen();
  while (added.width_ < width_) added.Widen();
  counts_.resize(std::max(counts_.size(), added.counts_.size()));
  for (size_t i = 0; i < added.counts_.size(); ++i) counts_[i] += added.counts_[i];
}

void IntervalCounts::Widen() {
  for (size_t i = 0; i < counts_.size(); ++i) {
    const uint64_t count = counts_[i];
    if (i % 2 == 0)
      counts_[i / 2] = count;
    else
      counts_[i / 2] += count;
  }
  counts_.resize((counts_.size() + 1) / 2);
  width_ *= 2;
}

}  // namespace stele::internal::lab
