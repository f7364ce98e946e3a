#include "db/tablet_counters.h"

#include <algorithm>

namespace stele::internal {
namespace {

bool IsLeftOf(const SstableReference& reference, const SstableReference& before) {
  return reference.file->number == before.file->number && before.range.Covers(reference.range) &&
         reference.sequence_first == before.sequence_first && reference.sequence_last == before.sequence_last;
}

// The stack has nothing but what drops left of the one before: reads of it meet the same sources
// as ever.
bool OnlyLostRows(const std::vector<ViewReference>& before, const std::vector<ViewReference>& after) {
  auto old = before.begin();  // a drop leaves the order as it was
  return std::all_of(after.begin(), after.end(), [&](const ViewReference& reference) {
    old = std::find_if(old, before.end(), [&](const ViewReference& other) { return IsLeftOf(reference.reference, other.reference); });
    return old != before.end();
  });
}

// The part of `count` that falls to the `index`th of `parts` alike; the parts add up.
uint64_t PartOf(uint64_t count, size_t index, size_t parts) { return count * (index + 1) / parts - count * index / parts; }

}  // namespace

void CarryCounters(const std::vector<ViewTablet>& before, std::vector<ViewTablet>* after) {
  for (ViewTablet& tablet : *after) tablet.counters = std::make_shared<TabletCounters>();
  // Both cover all rows, ascending: those of `after` that an old one overlaps follow each other.
  size_t begin = 0;
  for (const ViewTablet& old : before) {
    while (begin < after->size() && !(*after)[begin].range.Overlaps(old.range)) ++begin;
    size_t end = begin;
    while (end < after->size() && (*after)[end].range.Overlaps(old.range)) ++end;
    if (end - begin == 1 && (*after)[begin].range == old.range) {
      ViewTablet& same = (*after)[begin];
      same.counters = old.counters;
      same.reads_before = old.reads_before;
      if (!OnlyLostRows(old.stack, same.stack)) same.reads_before = same.counters->reads.load(std::memory_order_relaxed);
      continue;
    }
    const uint64_t reads = old.counters->reads.load(std::memory_order_relaxed);
    const uint64_t writes = old.counters->writes.load(std::memory_order_relaxed);
    for (size_t i = begin; i < end; ++i) {
      ViewTablet& part = (*after)[i];
      part.counters->reads.fetch_add(PartOf(reads, i - begin, end - begin), std::memory_order_relaxed);
      part.counters->writes.fetch_add(PartOf(writes, i - begin, end - begin), std::memory_order_relaxed);
      part.reads_before += PartOf(old.reads_before, i - begin, end - begin);
    }
  }
}

TabletWrites::TabletWrites(const std::vector<ViewTablet>& tablets) {
  for (const ViewTablet& tablet : tablets) places_.push_back({tablet.range.start, tablet.counters});
}

void TabletWrites::CountWrite(std::string_view row_key) const {
  auto place = places_.begin();
  if (places_.size() > 1) {
    place = std::prev(std::upper_bound(places_.begin(), places_.end(), row_key,
                                       [](std::string_view row, const Place& other) { return row < other.start; }));
  }
  place->counters->writes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stele::internal
