#include "compaction/stack_shape.h"

#include <algorithm>
#include <queue>

namespace stele::internal {
namespace {

// The most of these references that one row is in.
size_t CountSources(std::vector<const KeyRange*> ranges) {
  if (ranges.size() < 2) return ranges.size();
  std::sort(ranges.begin(), ranges.end(), [](const KeyRange* a, const KeyRange* b) { return a->start < b->start; });
  const auto ends_later = [](const KeyRange* a, const KeyRange* b) {
    if (a->unbounded_end || b->unbounded_end) return a->unbounded_end && !b->unbounded_end;
    return a->end > b->end;
  };
  std::priority_queue<const KeyRange*, std::vector<const KeyRange*>, decltype(ends_later)> open(ends_later);  // the first to end on top
  size_t most = 0;
  for (const KeyRange* range : ranges) {
    while (!open.empty() && open.top()->EndsBefore(range->start)) open.pop();
    open.push(range);
    most = std::max(most, open.size());
  }
  return most;
}

}  // namespace

std::vector<Group> GroupsOf(const Tablet& tablet, const PartsByFile& parts) {
  std::vector<Group> groups;
  for (size_t i = 0; i < tablet.stack.size(); ++i) {
    const SstableReference& reference = tablet.stack[i];
    Group group{i, i + 1, ShareBytes(reference, parts), 1, reference.sequence_first, reference.sequence_last};
    while (!groups.empty() && group.sequence_last >= groups.back().sequence_first) {
      group.begin = groups.back().begin;
      group.bytes += groups.back().bytes;
      group.sequence_first = std::min(group.sequence_first, groups.back().sequence_first);
      group.sequence_last = std::max(group.sequence_last, groups.back().sequence_last);
      groups.pop_back();
    }
    groups.push_back(group);
  }
  for (Group& group : groups) {
    std::vector<const KeyRange*> ranges;
    for (size_t i = group.begin; i < group.end; ++i) ranges.push_back(&tablet.stack[i].range);
    group.sources = CountSources(std::move(ranges));
  }
  return groups;
}

bool ReachesEnd(const Tablet& tablet, size_t begin, size_t end) {
  for (size_t older = end; older < tablet.stack.size(); ++older) {
    for (size_t i = begin; i < end; ++i) {
      if (tablet.stack[older].range.Overlaps(tablet.stack[i].range)) return false;
    }
  }
  return true;
}

Run RunOf(const std::vector<Group>& groups, size_t begin, size_t end) {
  Run run{.begin = groups[begin].begin,
          .end = groups[end - 1].end,
          .sequence_first = groups[end - 1].sequence_first,
          .sequence_last = groups[begin].sequence_last};
  for (size_t i = begin; i < end; ++i) {
    run.bytes += groups[i].bytes;
    run.sources += groups[i].sources;
  }
  return run;
}

}  // namespace stele::internal
