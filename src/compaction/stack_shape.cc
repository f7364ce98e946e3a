#include "compaction/stack_shape.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

namespace stele::internal {
namespace {

// The maximum number of these references that have a row in common.
size_t CountSources(std::vector<const KeyRange*> ranges) {
  if (ranges.size() < 2) return ranges.size();
  std::sort(ranges.begin(), ranges.end(),
            [](const KeyRange* a, const KeyRange* b) { return a->start < b->start; });
  const auto ends_later = [](const KeyRange* a, const KeyRange* b) {
    if (a->unbounded_end || b->unbounded_end) return a->unbounded_end && !b->unbounded_end;
    return a->end > b->end;
  };
  // The range that ends first is on top.
  std::priority_queue<const KeyRange*, std::vector<const KeyRange*>, decltype(ends_later)> open(
      ends_later);
  size_t most = 0;
  for (const KeyRange* range : ranges) {
    while (!open.empty() && open.top()->EndsBefore(range->start)) open.pop();
    open.push(range);
    most = std::max(most, open.size());
  }
  return most;
}

}  // namespace

std::vector<OverlapCluster> ClustersOf(const Tablet& tablet, const FileShares& parts) {
  std::vector<OverlapCluster> clusters;
  for (size_t i = 0; i < tablet.stack.size(); ++i) {
    const SstableReference& reference = tablet.stack[i];
    OverlapCluster cluster{i,
                           i + 1,
                           ShareBytes(reference, parts),
                           1,
                           reference.sequence_first,
                           reference.sequence_last};
    while (!clusters.empty() && cluster.sequence_last >= clusters.back().sequence_first) {
      cluster.begin = clusters.back().begin;
      cluster.bytes += clusters.back().bytes;
      cluster.sequence_first = std::min(cluster.sequence_first, clusters.back().sequence_first);
      cluster.sequence_last = std::max(cluster.sequence_last, clusters.back().sequence_last);
      clusters.pop_back();
    }
    clusters.push_back(cluster);
  }
  for (OverlapCluster& cluster : clusters) {
    std::vector<const KeyRange*> ranges;
    std::set<uint64_t> files;
    for (size_t i = cluster.begin; i < cluster.end; ++i) {
      ranges.push_back(&*tablet.stack[i].range);
      files.insert(tablet.stack[i].file->number);
    }
    cluster.sources = CountSources(std::move(ranges));
    cluster.fragments = cluster.end - cluster.begin - files.size();
  }
  return clusters;
}

namespace {

bool IsAnyOf(const std::set<uint64_t>& files, const SstableReference& reference) {
  return !files.empty() && files.contains(reference.file->number);
}

}  // namespace

std::vector<StackSpan> StackSpansOf(const Tablet& tablet, const FileShares& parts,
                                    const std::set<uint64_t>& unreadable) {
  std::vector<StackSpan> stack_spans;
  bool is_parted = true;
  for (OverlapCluster& cluster : ClustersOf(tablet, parts)) {
    const auto begin = tablet.stack.begin() + static_cast<std::ptrdiff_t>(cluster.begin);
    const auto end = tablet.stack.begin() + static_cast<std::ptrdiff_t>(cluster.end);
    if (std::any_of(begin, end, [&](const SstableReference& reference) {
          return IsAnyOf(unreadable, reference);
        })) {
      is_parted = true;
      continue;
    }
    if (std::exchange(is_parted, false)) stack_spans.emplace_back();
    stack_spans.back().clusters.push_back(cluster);
  }
  if (!is_parted) stack_spans.back().reaches_end = true;
  return stack_spans;
}

bool ReferencesAny(const Tablet& tablet, const std::set<uint64_t>& files) {
  return std::any_of(
      tablet.stack.begin(), tablet.stack.end(),
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

InputRange InputRangeOf(const std::vector<OverlapCluster>& clusters, size_t begin, size_t end) {
  InputRange inputs{.begin = clusters[begin].begin,
                    .end = clusters[end - 1].end,
                    .sequence_first = clusters[end - 1].sequence_first,
                    .sequence_last = clusters[begin].sequence_last};
  for (size_t i = begin; i < end; ++i) {
    inputs.bytes += clusters[i].bytes;
    inputs.sources += clusters[i].sources;
  }
  return inputs;
}

}  // namespace stele::internal
