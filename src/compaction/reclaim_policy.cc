#include "compaction/reclaim_policy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compaction/dead_share.h"

namespace stele::internal {
namespace {

// A tablet is rewritten only if at least this share of its bytes is dead. So the rewrite writes at
// most three live bytes for each byte that it frees.
constexpr double kDeadShareMin = 0.25;
// The minimum share if the files' own summaries show less than kDeadShareMin, so that newer entries
// hide most of the dead bytes. With kDeadShareMin instead, a workload that always replaces its data
// would rewrite three bytes for each byte that it writes.
constexpr double kHiddenShareMin = 0.5;
// The minimum share for an idle tablet. So its files take less than 1.2 times the live bytes.
constexpr double kDeadShareMinIdle = 1.0 / 7;

bool IsIdle(const Tablet& tablet, const InputRange& inputs, int64_t now) {
  for (size_t i = inputs.begin; i < inputs.end; ++i) {
    if (tablet.stack[i].file->newest_commit_time > now - kIdleMicros) return false;
  }
  return true;
}

// Bounds of the dead bytes of some clusters.
struct DeadBounds {
  uint64_t bytes = 0;                // on disk, with the dead parts of shared files
  uint64_t unreferenced = 0;         // parts of shared files that no tablet references
  uint64_t shown = 0;                // dead by the file's own summary
  uint64_t hidden_max = 0;           // newer entries may hide this, too; may exceed `bytes`
  uint64_t of_dropped_families = 0;  // of `shown`
  bool is_guess = false;             // `shown` may be much too low or too high
  bool has_tombstones = false;       // tombstones with older clusters below them
};

DeadBounds BoundsOf(const Tablet& tablet, const std::vector<OverlapCluster>& clusters,
                    const DeadQuery& query) {
  DeadBounds bounds;
  double hidden_max = 0;
  OlderContents older;
  for (size_t at = clusters.size(); at-- > 0;) {
    const bool has_older = at + 1 < clusters.size();
    const auto share_of = [&](const SstableReference& reference) {
      return static_cast<double>(ShareBytes(reference, query.parts)) /
             static_cast<double>(std::max<uint64_t>(1, reference.file->summary.file_bytes));
    };
    for (size_t i = clusters[at].begin; i < clusters[at].end; ++i) {
      const SstableReference& reference = tablet.stack[i];
      const uint64_t held_bytes = HeldBytes(reference, query.parts);
      bounds.bytes += held_bytes;
      bounds.unreferenced += held_bytes - std::min(held_bytes, ShareBytes(reference, query.parts));
      const DeadBytesEstimate shown =
          EstimateDeadBytes(*reference.file, query.definition, query.now);
      bounds.shown += ShareOf(shown.all, reference, query.parts);
      bounds.of_dropped_families += ShareOf(shown.of_dropped_families, reference, query.parts);
      bounds.is_guess |= shown.is_guess;
      if (!has_older) continue;
      bounds.has_tombstones |= LiveTombstones(*reference.file, query.definition) > 0;
      hidden_max += older.HiddenBy(*reference.file, share_of(reference), query.definition);
    }
    if (at == 0) break;
    for (size_t i = clusters[at].begin; i < clusters[at].end; ++i)
      older.Add(*tablet.stack[i].file, share_of(tablet.stack[i]));
  }
  bounds.hidden_max = static_cast<uint64_t>(std::min(hidden_max, 1e18));
  return bounds;
}

uint64_t NeededBytes(const DeadBounds& bounds, bool is_idle) {
  const auto part = [&bounds](double share) {
    return static_cast<uint64_t>(std::ceil(static_cast<double>(bounds.bytes) * share));
  };
  if (is_idle) return part(kDeadShareMinIdle);
  const bool shows_enough = bounds.unreferenced + bounds.shown >= part(kDeadShareMin);
  return part(bounds.hidden_max > 0 && !shows_enough ? kHiddenShareMin : kDeadShareMin);
}

// Returns the dead bytes in the tablet's part of the files. Takes a sample if it could show that
// `needed` bytes are dead, or that bytes are live which the summaries show as dead.
uint64_t DeadBytesIn(const Tablet& tablet, const InputRange& inputs, const DeadBounds& bounds,
                     bool is_idle, uint64_t needed, const DeadQuery& query) {
  const bool may_suffice = bounds.unreferenced + bounds.shown + bounds.hidden_max >= needed;
  const bool is_unclear = bounds.hidden_max > 0 || bounds.is_guess;
  const bool is_worth_a_sample =
      (may_suffice && is_unclear) || (is_idle && (bounds.has_tombstones || bounds.is_guess));
  std::optional<double> share;
  if (is_worth_a_sample && query.measure_dead) {
    share = query.measure_dead({.table_id = query.definition.id,
                                .tablet = tablet.range,
                                .input_begin = inputs.begin,
                                .bytes = inputs.bytes,
                                .dead_bytes_max = bounds.shown + bounds.hidden_max,
                                .exact = is_idle});
  }
  if (!share.has_value()) return bounds.shown;
  const uint64_t sampled_bytes = inputs.bytes - std::min(inputs.bytes, bounds.of_dropped_families);
  return bounds.of_dropped_families +
         static_cast<uint64_t>(*share * static_cast<double>(sampled_bytes));
}

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
                                          const DeadQuery& query) {
  if (clusters.empty()) return std::nullopt;
  const InputRange inputs = InputRangeOf(clusters, 0, clusters.size());
  const DeadBounds bounds = BoundsOf(tablet, clusters, query);
  const bool is_idle = IsIdle(tablet, inputs, query.now);
  const uint64_t needed = NeededBytes(bounds, is_idle);
  const uint64_t dead_in_tablet = DeadBytesIn(tablet, inputs, bounds, is_idle, needed, query);
  const uint64_t dead_bytes = bounds.unreferenced + dead_in_tablet;
  if (dead_bytes == 0 || dead_bytes < needed) return std::nullopt;
  return DeadInputs{inputs, dead_bytes, inputs.bytes - std::min(inputs.bytes, dead_in_tablet)};
}

bool IsFlushWorthwhile(const TableState& table, const HidingOperations& operations) {
  double bytes = 0;
  double rows = 0;
  double cells = 0;
  int64_t timestamp_max = INT64_MIN;
  std::set<uint64_t> counted;
  for (const Tablet& tablet : table.tablets) {
    for (const SstableReference& reference : tablet.stack) {
      const SstableSummary& summary = reference.file->summary;
      if (!counted.insert(reference.file->number).second) continue;
      bytes += static_cast<double>(summary.file_bytes);
      rows += static_cast<double>(summary.rows);
      cells += static_cast<double>(summary.cells);
      for (const FamilySummary& family : summary.families)
        timestamp_max = std::max(timestamp_max, family.timestamp_max);
    }
  }
  const std::vector<Retention>& rules = table.definition->retentions;
  const bool may_replace = operations.timestamp_min <= timestamp_max ||
                           std::any_of(rules.begin(), rules.end(),
                                       [](const Retention& rule) { return rule.CountsVersions(); });
  const double bytes_per_row = bytes / std::max(1.0, rows);
  const double bytes_per_cell = bytes / std::max(1.0, cells);
  double hidden =
      static_cast<double>(operations.row_tombstones) * bytes_per_row +
      static_cast<double>(operations.other_tombstones) * std::max(bytes_per_row, bytes_per_cell);
  if (may_replace) hidden += static_cast<double>(operations.versions) * bytes_per_cell;
  return bytes > 0 && hidden >= kDeadShareMinIdle * bytes;
}

}  // namespace stele::internal
