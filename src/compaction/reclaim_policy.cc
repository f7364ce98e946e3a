#include "compaction/reclaim_policy.h"

#include <algorithm>

#include "compaction/dead_share.h"

namespace stele::internal {
namespace {

// A tablet is rewritten for its dead bytes alone once they are this share of it: rewriting then costs at most three live bytes for each
// that it frees.
constexpr double kDeadShareMin = 0.25;

}  // namespace

std::optional<Run> FindDropRun(const Tablet& tablet, const TableDefinition& definition, int64_t now) {
  const std::vector<SstableReference>& stack = tablet.stack;
  size_t begin = stack.size();
  size_t end = stack.size();
  for (size_t i = stack.size(); i-- > 0;) {
    const bool hides_kept = LiveTombstones(*stack[i].file, definition) > 0 &&
                            std::any_of(stack.begin() + static_cast<std::ptrdiff_t>(end), stack.end(),
                                        [&](const SstableReference& older) { return older.range.Overlaps(stack[i].range); });
    if (AllCellsCondemned(*stack[i].file, definition, now) && !hides_kept) {
      begin = i;
    } else if (begin < end) {
      break;
    } else {
      begin = end = i;
    }
  }
  if (begin == end) return std::nullopt;
  return Run{.begin = begin, .end = end};
}

std::optional<DeadRun> FindMajorRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                                    const PartsByFile& parts, int64_t now) {
  if (groups.empty()) return std::nullopt;
  uint64_t bytes = 0;
  uint64_t dead_bytes = 0;
  const Run run = RunOf(groups, 0, groups.size());
  uint64_t live_bytes = run.bytes;
  for (size_t i = run.begin; i < run.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    const uint64_t held_bytes = HeldBytes(reference, parts);
    bytes += held_bytes;
    dead_bytes += held_bytes - std::min(held_bytes, ShareBytes(reference, parts));
    const uint64_t dead_share = ShareOf(EstimateDeadBytes(*reference.file, definition, now), reference, parts);
    dead_bytes += dead_share;
    live_bytes -= std::min(live_bytes, dead_share);
  }
  if (dead_bytes == 0 || static_cast<double>(dead_bytes) < kDeadShareMin * static_cast<double>(bytes)) return std::nullopt;
  return DeadRun{run, dead_bytes, live_bytes};
}

}  // namespace stele::internal
