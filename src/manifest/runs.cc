#include "manifest/runs.h"

#include <algorithm>

namespace stele::internal {

std::vector<std::vector<uint32_t>> DivideIntoRuns(std::span<const KeyRange* const> newest_first) {
  std::vector<std::vector<uint32_t>> runs;
  runs.reserve(newest_first.size());
  for (uint32_t position = 0; position < newest_first.size(); ++position) {
    const KeyRange& range = *newest_first[position];
    if (range.IsEmpty()) continue;
    // Returns the position of the first range of the run that does not end before `range`. If the
    // two do not overlap, `range` belongs there.
    const auto place_in = [&](std::vector<uint32_t>& run) {
      return std::partition_point(run.begin(), run.end(), [&](uint32_t other) {
        return newest_first[other]->EndsBefore(range.start);
      });
    };
    size_t depth = runs.size();
    for (; depth > 0; --depth) {
      std::vector<uint32_t>& run = runs[depth - 1];
      const auto place = place_in(run);
      if (place != run.end() && !range.EndsBefore(newest_first[*place]->start)) break;
    }
    if (depth == runs.size()) runs.emplace_back();
    runs[depth].insert(place_in(runs[depth]), position);
  }
  return runs;
}

}  // namespace stele::internal
