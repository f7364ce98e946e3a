#include "commit/column_versions.h"

#include <algorithm>

namespace stele::internal {

ColumnVersions::ColumnVersions(std::vector<int64_t> newest_first, int64_t time)
    : oldest_first_(std::move(newest_first)), time_(time) {
  std::reverse(oldest_first_.begin(), oldest_first_.end());
}

void ColumnVersions::Apply(const BatchOp& op) {
  if (op.kind < CellKind::kDeleteRange) return oldest_first_.clear();
  const auto begin = oldest_first_.begin();
  const auto end = oldest_first_.end();
  if (op.kind == CellKind::kDeleteRange) {
    oldest_first_.erase(std::lower_bound(begin, end, op.range_start),
                        std::upper_bound(begin, end, op.timestamp));
    return;
  }
  const auto place = std::lower_bound(begin, end, op.timestamp);
  if (place == end || *place != op.timestamp) oldest_first_.insert(place, op.timestamp);
}

int64_t ColumnVersions::FloorUnder(const Retention& retention, int64_t now) const {
  // All versions below a garbage version are garbage (gc/retention.h), so binary search finds the
  // first.
  const auto version = [this](size_t ordinal) {
    return oldest_first_[oldest_first_.size() - ordinal];
  };
  size_t kept = 0;
  size_t end = oldest_first_.size();
  while (kept < end) {
    const size_t middle = kept + (end - kept) / 2;
    if (retention.IsGarbage(middle + 1, version(middle + 1), now)) {
      end = middle;
    } else {
      kept = middle + 1;
    }
  }
  return kept == oldest_first_.size() ? 0 : version(kept + 1) + 1;
}

}  // namespace stele::internal
