#include "compaction/dead_share.h"

#include <algorithm>
#include <optional>

namespace stele::internal {
namespace {

// Null for a family that was dropped.
const Retention* FindRetention(const TableDefinition& definition, uint32_t family_id) {
  const std::optional<uint32_t> family_index = definition.families.IndexOfId(family_id);
  return family_index.has_value() ? &definition.retentions[*family_index - 1] : nullptr;
}

// The least timestamp in [low, high] that is not garbage at ordinal 1; `high` is not. The result of
// a rule is monotone (gc/retention.h).
int64_t FirstKept(const Retention& rule, int64_t low, int64_t high, int64_t now) {
  while (low < high) {
    const int64_t middle =
        low + static_cast<int64_t>((static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / 2);
    if (rule.IsGarbage(1, middle, now)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Assumes that timestamps are evenly distributed.
double AgedShare(const Retention& rule, const FamilySummary& family, int64_t now) {
  if (!rule.IsGarbage(1, family.timestamp_min, now)) return 0;
  if (rule.IsGarbage(1, family.timestamp_max, now)) return 1;
  const int64_t kept = FirstKept(rule, family.timestamp_min, family.timestamp_max, now);
  const double span =
      static_cast<double>(family.timestamp_max) - static_cast<double>(family.timestamp_min);
  return std::min(1.0, (static_cast<double>(kept) - static_cast<double>(family.timestamp_min)) /
                           std::max(span, 1.0));
}

// Assumes that all columns have as many versions as the longest one.
double ExcessVersionShare(const Retention& rule, const FamilySummary& family,
                          int64_t newest_commit_time) {
  if (!rule.IsGarbage(family.versions_max, family.timestamp_max, newest_commit_time)) return 0;
  if (family.versions_max == 0) return 1;
  uint64_t low = 0;  // versions that are certainly kept by ordinal
  uint64_t high = family.versions_max;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (rule.IsGarbage(middle, family.timestamp_max, newest_commit_time) ? high : low) = middle;
  }
  return 1.0 - static_cast<double>(low) / static_cast<double>(family.versions_max);
}

}  // namespace

uint64_t EstimateDeadBytes(const SstableFile& file, const TableDefinition& definition,
                           int64_t now) {
  const SstableSummary& summary = file.summary;
  if (summary.logical_bytes == 0) return 0;
  double dead_logical_bytes = 0;
  for (const FamilySummary& family : summary.families) {
    const Retention* rule = FindRetention(definition, family.family_id);
    double share = 1;
    if (rule != nullptr) {
      share = family.cells == 0
                  ? 0
                  : std::max(AgedShare(*rule, family, now),
                             ExcessVersionShare(*rule, family, file.newest_commit_time));
    }
    dead_logical_bytes += share * static_cast<double>(family.logical_bytes);
  }
  // Assumes that a tombstone hides one cell; the tombstone itself goes, too.
  const double entry_bytes = static_cast<double>(summary.logical_bytes) /
                             static_cast<double>(std::max<uint64_t>(1, summary.cells));
  dead_logical_bytes += 2 * entry_bytes * static_cast<double>(summary.tombstones);
  const double share =
      std::min(1.0, dead_logical_bytes / static_cast<double>(summary.logical_bytes));
  // Limits the product for any file size in the manifest.
  constexpr uint64_t kFileBytesMax = uint64_t{1} << 60;
  return static_cast<uint64_t>(share *
                               static_cast<double>(std::min(summary.file_bytes, kFileBytesMax)));
}

bool AllCellsAreGarbage(const SstableFile& file, const TableDefinition& definition, int64_t now) {
  return std::all_of(file.summary.families.begin(), file.summary.families.end(),
                     [&](const FamilySummary& family) {
                       const Retention* rule = FindRetention(definition, family.family_id);
                       return rule == nullptr || family.cells == 0 ||
                              rule->IsGarbage(1, family.timestamp_max, now);
                     });
}

uint64_t LiveTombstones(const SstableFile& file, const TableDefinition& definition) {
  uint64_t count = file.summary.row_tombstones;
  for (const FamilySummary& family : file.summary.families) {
    if (FindRetention(definition, family.family_id) != nullptr) count += family.tombstones;
  }
  return count;
}

}  // namespace stele::internal
