#include "merge/sole_column.h"

#include <algorithm>

namespace stele::internal {

bool SoleColumnProgress::IsDecidedBy(const SoleColumn& column, std::span<const Cell> cells,
                                     int64_t older_greatest) {
  if (column.family == kRowFamily) return false;
  const Cell wanted{.family = column.family, .kind = CellKind::kSet, .qualifier = column.qualifier};
  bool is_passed = false;  // the source was read up to the column's first version
  bool hides = false;
  for (const Cell& cell : cells) {
    if (cell.kind == CellKind::kDeleteFamily && cell.family == column.family) return true;
    const auto order = CompareColumn(cell, wanted);
    if (order < 0) continue;
    if (order == 0 && cell.kind == CellKind::kDeleteRange) {
      if (cell.range_start <= 0 && cell.timestamp == std::numeric_limits<int64_t>::max())
        return true;
      hides = true;
      continue;
    }
    is_passed = true;
    if (order == 0 && cell.kind == CellKind::kSet && !may_hide_)
      newest_ = std::max(newest_, cell.timestamp);
    break;
  }
  may_hide_ |= hides || !is_passed;
  return column.latest_only && newest_ != std::numeric_limits<int64_t>::min() &&
         newest_ >= older_greatest;
}

}  // namespace stele::internal
