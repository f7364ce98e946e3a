#include "compaction/stack_shape.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

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
    std::set<uint64_t> files;
    for (size_t i = group.begin; i < group.end; ++i) {
      ranges.push_back(&*tablet.stack[i].range);
      files.insert(tablet.stack[i].file->number);
    }
    group.sources = CountSources(std::move(ranges));
    group.fragments = group.end - group.begin - files.size();
  }
  return groups;
}

namespace {

bool IsAnyOf(const std::set<uint64_t>& files, const SstableReference& reference) {
  return !files.empty() && files.contains(reference.file->number);
}

}  // namespace

std::vector<Stretch> StretchesOf(const Tablet& tablet, const PartsByFile& parts, const std::set<uint64_t>& unreadable) {
  std::vector<Stretch> stretches;
  bool is_parted = true;
  for (Group& group : GroupsOf(tablet, parts)) {
    const auto begin = tablet.stack.begin() + static_cast<std::ptrdiff_t>(group.begin);
    const auto end = tablet.stack.begin() + static_cast<std::ptrdiff_t>(group.end);
    if (std::any_of(begin, end, [&](const SstableReference& reference) { return IsAnyOf(unreadable, reference); })) {
      is_parted = true;
      continue;
    }
    if (std::exchange(is_parted, false)) stretches.emplace_back();
    stretches.back().groups.push_back(group);
  }
  if (!is_parted) stretches.back().reaches_end = true;
  return stretches;
}

bool ShowsAny(const Tablet& tablet, const std::set<uint64_t>& files) {
  return std::any_of(tablet.stack.begin(), tablet.stack.end(),
                     [&files](const SstableReference& reference) { return IsAnyOf(files, reference); });
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
