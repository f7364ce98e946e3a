#include "compaction/neighbours.h"

#include <algorithm>

namespace stele::internal {

std::optional<Run> RunWithin(const std::vector<Group>& groups, uint64_t sequence_first, uint64_t sequence_last) {
  const auto is_newer = [&](const Group& group) { return group.sequence_first > sequence_last; };
  const auto begin = std::find_if_not(groups.begin(), groups.end(), is_newer);
  const auto end = std::find_if(begin, groups.end(), [&](const Group& group) { return group.sequence_last < sequence_first; });
  if (begin == end || begin->sequence_last > sequence_last || std::prev(end)->sequence_first < sequence_first) return std::nullopt;
  return RunOf(groups, static_cast<size_t>(begin - groups.begin()), static_cast<size_t>(end - groups.begin()));
}

std::vector<TabletRun> ExtendOverNeighbours(const TabletRun& seed, size_t tablet_count, uint64_t slice_bytes, uint64_t bytes_max,
                                            const std::function<std::optional<Run>(size_t tablet_index)>& run_of) {
  std::vector<TabletRun> slices = {seed};
  if (seed.run.bytes >= slice_bytes) return slices;
  uint64_t bytes = seed.run.bytes;
  const auto take = [&](size_t tablet_index) {
    const std::optional<Run> run = run_of(tablet_index);
    if (!run.has_value() || run->bytes >= slice_bytes || bytes + run->bytes > bytes_max) return false;
    bytes += run->bytes;
    slices.push_back({tablet_index, *run});
    return true;
  };
  size_t before = seed.tablet_index;
  while (before > 0 && take(before - 1)) --before;
  std::reverse(slices.begin(), slices.end());
  size_t after = seed.tablet_index + 1;
  while (after < tablet_count && take(after)) ++after;
  return slices;
}

}  // namespace stele::internal
