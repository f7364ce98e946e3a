#include "compaction/neighbours.h"

#include <algorithm>

namespace stele::internal {

std::optional<InputRange> InputsWithin(const std::vector<OverlapCluster>& clusters,
                                       uint64_t sequence_first, uint64_t sequence_last) {
  const auto is_newer = [&](const OverlapCluster& cluster) {
    return cluster.sequence_first > sequence_last;
  };
  const auto begin = std::find_if_not(clusters.begin(), clusters.end(), is_newer);
  const auto end = std::find_if(begin, clusters.end(), [&](const OverlapCluster& cluster) {
    return cluster.sequence_last < sequence_first;
  });
  if (begin == end || begin->sequence_last > sequence_last ||
      std::prev(end)->sequence_first < sequence_first)
    return std::nullopt;
  return InputRangeOf(clusters, static_cast<size_t>(begin - clusters.begin()),
                      static_cast<size_t>(end - clusters.begin()));
}

std::vector<TabletInputs> ExtendOverNeighbours(
    const TabletInputs& seed, size_t tablet_count, uint64_t subcompaction_bytes, uint64_t bytes_max,
    const std::function<std::optional<InputRange>(size_t tablet_index)>& inputs_of) {
  std::vector<TabletInputs> subcompactions = {seed};
  if (seed.inputs.bytes >= subcompaction_bytes) return subcompactions;
  uint64_t bytes = seed.inputs.bytes;
  const auto take = [&](size_t tablet_index) {
    const std::optional<InputRange> inputs = inputs_of(tablet_index);
    if (!inputs.has_value() || inputs->bytes >= subcompaction_bytes ||
        bytes + inputs->bytes > bytes_max)
      return false;
    bytes += inputs->bytes;
    subcompactions.push_back({tablet_index, *inputs});
    return true;
  };
  size_t before = seed.tablet_index;
  while (before > 0 && take(before - 1)) --before;
  std::reverse(subcompactions.begin(), subcompactions.end());
  size_t after = seed.tablet_index + 1;
  while (after < tablet_count && take(after)) ++after;
  return subcompactions;
}

}  // namespace stele::internal
