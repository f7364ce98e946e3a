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

// Returns the least timestamp in [low, high] that is not garbage at ordinal 1. `high` must not be
// garbage. Binary search works because rules are monotone (gc/retention.h).
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

// Returns the share of the versions that are garbage by age. Assumes that timestamps are evenly
// distributed.
double AgedShare(const Retention& rule, const FamilySummary& family, int64_t now) {
  if (!rule.IsGarbage(1, family.timestamp_min, now)) return 0;
  if (rule.IsGarbage(1, family.timestamp_max, now)) return 1;
  const int64_t kept = FirstKept(rule, family.timestamp_min, family.timestamp_max, now);
  const double span =
      static_cast<double>(family.timestamp_max) - static_cast<double>(family.timestamp_min);
  return std::min(1.0, (static_cast<double>(kept) - static_cast<double>(family.timestamp_min)) /
                           std::max(span, 1.0));
}

// Returns the share of the versions that are garbage by ordinal. Assumes that all columns have as
// many versions as the longest one.
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

DeadBytesEstimate EstimateDeadBytes(const SstableFile& file, const TableDefinition& definition,
                                    int64_t now) {
  const SstableSummary& summary = file.summary;
  DeadBytesEstimate shown;
  if (summary.logical_bytes == 0) return shown;
  double dead_logical_bytes = 0;
  double dropped_logical_bytes = 0;
  for (const FamilySummary& family : summary.families) {
    const auto logical_bytes = static_cast<double>(family.logical_bytes);
    const Retention* rule = FindRetention(definition, family.family_id);
    if (rule == nullptr) {
      dropped_logical_bytes += logical_bytes;
    } else if (family.cells > 0) {
      const double share =
          std::max(AgedShare(*rule, family, now),
                   ExcessVersionShare(*rule, family, OrdinalTime(file.newest_commit_time, now)));
      shown.is_guess |= share > 0 && share < 1;
      dead_logical_bytes += share * logical_bytes;
    }
  }
  const double entry_bytes =
      static_cast<double>(summary.logical_bytes) /
      static_cast<double>(std::max<uint64_t>(1, summary.cells + summary.tombstones));
  dead_logical_bytes +=
      dropped_logical_bytes + entry_bytes * static_cast<double>(summary.tombstones);
  const auto stored_bytes_of = [&summary](double logical_bytes) {
    // Limits the product for any file size in the manifest.
    constexpr uint64_t kFileBytesMax = uint64_t{1} << 60;
    return static_cast<uint64_t>(
        std::min(1.0, logical_bytes / static_cast<double>(summary.logical_bytes)) *
        static_cast<double>(std::min(summary.file_bytes, kFileBytesMax)));
  };
  shown.all = stored_bytes_of(dead_logical_bytes);
  shown.of_dropped_families = stored_bytes_of(dropped_logical_bytes);
  return shown;
}

void OlderContents::Add(const SstableFile& file, double share) {
  const SstableSummary& summary = file.summary;
  const double file_bytes = static_cast<double>(summary.file_bytes);
  rows_ += share * static_cast<double>(summary.rows);
  bytes_ += share * file_bytes;
  const double stored_per_logical =
      file_bytes / static_cast<double>(std::max<uint64_t>(1, summary.logical_bytes));
  for (const FamilySummary& family : summary.families) {
    if (family.cells == 0) continue;
    FamilyContents& contents = families_[family.family_id];
    contents.cells += share * static_cast<double>(family.cells);
    contents.bytes += share * stored_per_logical * static_cast<double>(family.logical_bytes);
    contents.timestamp_min = std::min(contents.timestamp_min, family.timestamp_min);
    contents.timestamp_max = std::max(contents.timestamp_max, family.timestamp_max);
  }
}

double OlderContents::HiddenInFamily(const FamilySummary& newer, double share,
                                     const TableDefinition& definition) const {
  const auto it = families_.find(newer.family_id);
  const Retention* rule = FindRetention(definition, newer.family_id);
  if (it == families_.end() || rule == nullptr) return 0;
  const FamilyContents& older = it->second;
  const double bytes_per_cell = older.bytes / std::max(1.0, older.cells);
  const double bytes_per_row = older.bytes / std::max(1.0, rows_);
  const bool may_replace =
      newer.cells > 0 && (rule->CountsVersions() || (newer.timestamp_min <= older.timestamp_max &&
                                                     older.timestamp_min <= newer.timestamp_max));
  double hidden =
      share * static_cast<double>(newer.tombstones) * std::max(bytes_per_cell, bytes_per_row);
  if (may_replace) hidden += share * static_cast<double>(newer.cells) * bytes_per_cell;
  return std::min(hidden, older.bytes);
}

double OlderContents::HiddenBy(const SstableFile& file, double share,
                               const TableDefinition& definition) const {
  double hidden =
      share * static_cast<double>(file.summary.row_tombstones) * (bytes_ / std::max(1.0, rows_));
  for (const FamilySummary& family : file.summary.families)
    hidden += HiddenInFamily(family, share, definition);
  return std::min(hidden, bytes_);
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
