#include "views/tablet_counters.h"

#include <algorithm>

namespace stele::internal {
namespace {

// True if `reference` is `before`, or a part that remains of it after rows were dropped.
bool IsPartOf(const SstableReference& reference, const SstableReference& before) {
  return reference.file->number == before.file->number && before.range.Covers(reference.range) &&
         reference.sequence_first == before.sequence_first &&
         reference.sequence_last == before.sequence_last;
}

// True if `after` is `before` without dropped rows. Reads then have the same sources as before.
bool OnlyLostRows(const std::vector<ViewReference>& before,
                  const std::vector<ViewReference>& after) {
  auto old = before.begin();  // a drop does not change the order
  return std::all_of(after.begin(), after.end(), [&](const ViewReference& reference) {
    old = std::find_if(old, before.end(), [&](const ViewReference& other) {
      return IsPartOf(reference.reference, other.reference);
    });
    return old != before.end();
  });
}

// The part of `count` for the `index`th of `parts` equal parts; the sum is `count`.
uint64_t PartOf(uint64_t count, size_t index, size_t parts) {
  return count * (index + 1) / parts - count * index / parts;
}

}  // namespace

void CarryCounters(const std::vector<ViewTablet>& before, std::vector<ViewTablet>* after) {
  for (ViewTablet& tablet : *after) tablet.counters = std::make_shared<TabletCounters>();
  // Both cover all rows, ascending. The tablets of `after` that overlap an old one are contiguous.
  size_t begin = 0;
  for (const ViewTablet& old : before) {
    while (begin < after->size() && !(*after)[begin].range.Overlaps(old.range)) ++begin;
    size_t end = begin;
    while (end < after->size() && (*after)[end].range.Overlaps(old.range)) ++end;
    if (end - begin == 1 && (*after)[begin].range == old.range) {
      ViewTablet& same = (*after)[begin];
      same.counters = old.counters;
      same.reads_at_stack_change = old.reads_at_stack_change;
      if (!OnlyLostRows(old.stack, same.stack))
        same.reads_at_stack_change = same.counters->reads.load(std::memory_order_relaxed);
      continue;
    }
    const uint64_t reads = old.counters->reads.load(std::memory_order_relaxed);
    const uint64_t writes = old.counters->writes.load(std::memory_order_relaxed);
    for (size_t i = begin; i < end; ++i) {
      ViewTablet& part = (*after)[i];
      part.counters->reads.fetch_add(PartOf(reads, i - begin, end - begin),
                                     std::memory_order_relaxed);
      part.counters->writes.fetch_add(PartOf(writes, i - begin, end - begin),
                                      std::memory_order_relaxed);
      part.reads_at_stack_change += PartOf(old.reads_at_stack_change, i - begin, end - begin);
    }
  }
}

void TabletWrites::Follow(const std::vector<SharedSequence<ViewTablet>::Change>& changes) {
  std::vector<SharedSequence<Place>::Change> places;
  places.reserve(changes.size());
  for (const auto& change : changes) {
    auto& place = places.emplace_back();
    place.begin = change.begin;
    place.end = change.end;
    for (const auto& tablet : change.with)
      place.with.push_back(
          std::make_shared<const Place>(Place{tablet->range.start, tablet->counters}));
  }
  places_.Replace(std::move(places));
}

void TabletWrites::CountWrite(std::string_view row_key) const {
  auto place = places_.begin();
  if (places_.size() > 1) {
    place = std::prev(std::upper_bound(
        places_.begin(), places_.end(), row_key,
        [](std::string_view row, const Place& other) { return row < other.start; }));
  }
  place->counters->writes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stele::internal
