#include "compaction/reclaim_policy.h"

#include <algorithm>

#include "compaction/dead_share.h"

namespace stele::internal {
namespace {

// A tablet is rewritten for its dead bytes only if they are at least this share of it. So the
// rewrite costs at most three live bytes for each byte that it frees.
constexpr double kDeadShareMin = 0.25;

}  // namespace

std::optional<InputRange> FindDroppableInputs(const Tablet& tablet,
                                              const TableDefinition& definition, int64_t now) {
  const std::vector<SstableReference>& stack = tablet.stack;
  size_t begin = stack.size();
  size_t end = stack.size();
  for (size_t i = stack.size(); i-- > 0;) {
    const bool hides_kept = LiveTombstones(*stack[i].file, definition) > 0 &&
                            std::any_of(stack.begin() + static_cast<std::ptrdiff_t>(end),
                                        stack.end(), [&](const SstableReference& older) {
                                          return older.range.Overlaps(stack[i].range);
                                        });
    if (AllCellsAreGarbage(*stack[i].file, definition, now) && !hides_kept) {
      begin = i;
    } else if (begin < end) {
      break;
    } else {
      begin = end = i;
    }
  }
  if (begin == end) return std::nullopt;
  return InputRange{.begin = begin, .end = end};
}

std::optional<DeadInputs> FindMajorInputs(const Tablet& tablet,
                                          const std::vector<OverlapCluster>& clusters,
                                          const TableDefinition& definition,
                                          const PartsByFile& parts, int64_t now) {
  if (clusters.empty()) return std::nullopt;
  uint64_t bytes = 0;
  uint64_t dead_bytes = 0;
  const InputRange inputs = InputRangeOf(clusters, 0, clusters.size());
  uint64_t live_bytes = inputs.bytes;
  for (size_t i = inputs.begin; i < inputs.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    const uint64_t held_bytes = HeldBytes(reference, parts);
    bytes += held_bytes;
    dead_bytes += held_bytes - std::min(held_bytes, ShareBytes(reference, parts));
    const uint64_t dead_share =
        ShareOf(EstimateDeadBytes(*reference.file, definition, now), reference, parts);
    dead_bytes += dead_share;
    live_bytes -= std::min(live_bytes, dead_share);
  }
  if (dead_bytes == 0 ||
      static_cast<double>(dead_bytes) < kDeadShareMin * static_cast<double>(bytes))
    return std::nullopt;
  return DeadInputs{inputs, dead_bytes, live_bytes};
}

}  // namespace stele::internal
