#include "lab/trace/space_saving.h"

#include <utility>

namespace stele::internal::lab {

SpaceSaving::Estimate SpaceSaving::Add(uint64_t item, uint64_t count) {
  const auto known = places_.find(item);
  if (known != places_.end()) {
    Estimate& estimate = counters_[known->second].estimate;
    estimate.count += count;
    const Estimate result = estimate;
    if (is_heap_) SiftDown(known->second);
    return result;
  }
  if (counters_.size() < items_max_) {
    places_.emplace(item, counters_.size());
    counters_.push_back({.item = item, .estimate = {.count = count}});
    return {.count = count};
  }
  if (!is_heap_) MakeHeap();
  // The item takes the place of the one with the smallest count.
  Counter& smallest = counters_.front();
  places_.erase(smallest.item);
  const Estimate result = {.count = smallest.estimate.count + count,
                           .error = smallest.estimate.count};
  smallest = {.item = item, .estimate = result};
  places_.emplace(item, 0);
  SiftDown(0);
  return result;
}

void SpaceSaving::Clear() {
  counters_.clear();
  places_.clear();
  is_heap_ = false;
}

void SpaceSaving::SiftDown(size_t place) {
  while (true) {
    size_t least = 2 * place + 1;
    if (least >= counters_.size()) return;
    if (least + 1 < counters_.size() &&
        counters_[least + 1].estimate.count < counters_[least].estimate.count)
      ++least;
    if (counters_[place].estimate.count <= counters_[least].estimate.count) return;
    std::swap(counters_[place], counters_[least]);
    places_[counters_[place].item] = place;
    places_[counters_[least].item] = least;
    place = least;
  }
}

void SpaceSaving::MakeHeap() {
  for (size_t place = counters_.size() / 2; place > 0; --place) SiftDown(place - 1);
  is_heap_ = true;
}

}  // namespace stele::internal::lab
