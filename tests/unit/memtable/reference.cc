#include "unit/memtable/reference.h"

#include <algorithm>
#include <map>
#include <utility>

#include "support/cell_naive_fold.h"

namespace stele::internal {

bool Reference::Deletes(const OwnedCell& tombstone, const OwnedCell& version) {
  switch (tombstone.kind) {
    case CellKind::kDeleteRow:
      return true;
    case CellKind::kDeleteFamily:
      return tombstone.family == version.family;
    case CellKind::kDeleteRange:
      return tombstone.family == version.family && tombstone.qualifier == version.qualifier &&
             tombstone.range_start <= version.timestamp && version.timestamp <= tombstone.timestamp;
    default:
      return false;
  }
}

bool Reference::Covers(const Op& tombstone, const Op& other) {
  if (&tombstone == &other || !tombstone.cell.View().is_tombstone()) return false;
  const OwnedCell& a = tombstone.cell;
  const OwnedCell& b = other.cell;
  if (a.kind != b.kind)
    return a.kind < b.kind && (a.kind == CellKind::kDeleteRow || a.family == b.family);
  if (a.family != b.family || a.qualifier != b.qualifier) return false;
  if (a.range_start == b.range_start && a.timestamp == b.timestamp)
    return tombstone.commit > other.commit;
  return a.range_start <= b.range_start && b.timestamp <= a.timestamp;
}

bool Reference::Stays(const Op& op, const std::vector<const Op*>& row) {
  return std::none_of(row.begin(), row.end(), [&](const Op* other) {
    if (op.cell.View().is_tombstone()) return Covers(*other, op);
    if (other->commit <= op.commit) return false;
    const bool replaces =
        !op.cell.View().is_delta() && CompareCells(other->cell.View(), op.cell.View()) == 0;
    return replaces || Deletes(other->cell, op.cell);
  });
}

// Deltas with one cell key are adjacent in sorted cells. They become one delta.
void Reference::FoldDeltas(std::vector<OwnedCell>* cells) {
  std::vector<OwnedCell> folded;
  for (const OwnedCell& cell : *cells) {
    const bool is_more = cell.View().is_delta() && !folded.empty() &&
                         CompareCells(folded.back().View(), cell.View()) == 0;
    if (is_more) {
      folded.back().value =
          NaiveFold(cell.kind == CellKind::kSum ? "sum" : "hll", {folded.back().value, cell.value});
    } else {
      folded.push_back(cell);
    }
  }
  *cells = std::move(folded);
}

OwnedRows Reference::Resolve(uint64_t sequence, const FamilyMap& families) const {
  std::map<std::string, std::vector<const Op*>> by_row;
  for (const Op& op : ops_) {
    if (op.commit.sequence <= sequence) by_row[op.row_key].push_back(&op);
  }
  OwnedRows rows;
  for (const auto& [row_key, ops] : by_row) {
    OwnedRow row{row_key, {}};
    for (const Op* op : ops) {
      const bool wanted =
          op->cell.family == kRowFamily || families[op->cell.family] != kSkippedFamily;
      if (!wanted || !Stays(*op, ops)) continue;
      row.cells.push_back(op->cell);
      if (op->cell.family != kRowFamily) row.cells.back().family = families[op->cell.family];
    }
    std::sort(row.cells.begin(), row.cells.end(), [](const OwnedCell& a, const OwnedCell& b) {
      return CompareCells(a.View(), b.View()) < 0;
    });
    FoldDeltas(&row.cells);
    if (!row.cells.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stele::internal
