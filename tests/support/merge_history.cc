#include "support/merge_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "merge/merge_cursor.h"
#include "support/cell_naive_fold.h"

namespace stele::internal {
namespace {

bool SameCellKey(const OwnedCell& a, const OwnedCell& b) {
  return CompareCells(a.View(), b.View()) == 0;
}

OwnedRows Sorted(std::map<std::string, std::vector<OwnedCell>> by_row) {
  OwnedRows rows;
  for (auto& [row_key, cells] : by_row) {
    std::sort(cells.begin(), cells.end(), [](const OwnedCell& a, const OwnedCell& b) {
      return CompareCells(a.View(), b.View()) < 0;
    });
    OwnedRow& row = rows.emplace_back(OwnedRow{row_key, {}});
    for (OwnedCell& cell : cells) {
      const bool is_more =
          cell.kind == CellKind::kSum && !row.cells.empty() && SameCellKey(row.cells.back(), cell);
      if (is_more) {
        row.cells.back().value = NaiveFold("sum", {row.cells.back().value, cell.value});
      } else {
        row.cells.push_back(std::move(cell));
      }
    }
  }
  return rows;
}

// Returns whether an operation in (i, end) undoes or repeats operation `i`.
bool IsOver(const History& history, size_t i, size_t end) {
  const OwnedCell& cell = history[i].cell;
  for (size_t later = i + 1; later < end; ++later) {
    if (history[later].row_key != history[i].row_key) continue;
    const OwnedCell& other = history[later].cell;
    const bool is_version = !cell.View().is_tombstone();
    if (is_version && Deletes(other, cell)) return true;
    if (!cell.View().is_delta() && SameCellKey(other, cell)) return true;
  }
  return false;
}

}  // namespace

bool Deletes(const OwnedCell& tombstone, const OwnedCell& cell) {
  switch (tombstone.kind) {
    case CellKind::kDeleteRow:
      return true;
    case CellKind::kDeleteFamily:
      return cell.family == tombstone.family;
    case CellKind::kDeleteRange:
      return cell.family == tombstone.family && cell.qualifier == tombstone.qualifier &&
             cell.timestamp <= tombstone.timestamp && cell.timestamp >= tombstone.range_start;
    default:
      return false;
  }
}

Operation RandomOperation(Random& random, const HistoryShape& shape) {
  Operation operation;
  operation.row_key = fmt::format("row{}", random.Below(shape.row_count));
  OwnedCell& cell = operation.cell;
  if (random.Below(100) < shape.tombstone_percent) {
    const uint64_t pick = random.Below(10);
    cell.kind = pick == 0   ? CellKind::kDeleteRow
                : pick <= 2 ? CellKind::kDeleteFamily
                            : CellKind::kDeleteRange;
  }
  if (cell.kind == CellKind::kDeleteRow) return operation;
  cell.family = 1 + static_cast<uint32_t>(random.Below(shape.family_count));
  if (cell.kind == CellKind::kDeleteFamily) return operation;
  cell.qualifier = fmt::format("q{}", random.Below(shape.qualifier_count));
  cell.timestamp = static_cast<int64_t>(random.Below(static_cast<uint64_t>(shape.timestamp_count)));
  if (cell.kind == CellKind::kDeleteRange) {
    cell.range_start =
        random.OneIn(3)
            ? 0
            : static_cast<int64_t>(random.Below(static_cast<uint64_t>(cell.timestamp) + 1));
  } else if (shape.last_family_adds && cell.family == shape.family_count) {
    cell.kind = CellKind::kSum;
    cell.value = NaiveNumber(static_cast<int64_t>(random.Below(1000)) - 500);
  } else {
    cell.value = fmt::format("{}", random.Below(1'000'000));
  }
  return operation;
}

OwnedRows Resolve(const History& history, size_t begin, size_t end) {
  std::map<std::string, std::vector<OwnedCell>> by_row;
  for (size_t i = begin; i < end; ++i) {
    if (IsOver(history, i, end)) continue;
    OwnedCell cell = history[i].cell;
    // A source has one range tombstone per end: the widest one with that end.
    for (size_t earlier = begin; cell.kind == CellKind::kDeleteRange && earlier < i; ++earlier) {
      const OwnedCell& other = history[earlier].cell;
      if (history[earlier].row_key == history[i].row_key && SameCellKey(other, cell)) {
        cell.range_start = std::min(cell.range_start, other.range_start);
      }
    }
    by_row[history[i].row_key].push_back(std::move(cell));
  }
  return Sorted(std::move(by_row));
}

OwnedRows LiveRows(const History& history, const std::vector<Retention>& rules, int64_t now) {
  std::map<std::string, std::vector<OwnedCell>> by_row;
  for (size_t i = 0; i < history.size(); ++i) {
    const Operation& operation = history[i];
    if (operation.cell.View().is_tombstone() || IsOver(history, i, history.size())) continue;
    std::set<int64_t> newer;
    for (size_t j = 0; j < history.size(); ++j) {
      const OwnedCell& other = history[j].cell;
      const bool counts = !other.View().is_tombstone() && history[j].row_key == operation.row_key &&
                          other.family == operation.cell.family &&
                          other.qualifier == operation.cell.qualifier &&
                          other.timestamp > operation.cell.timestamp;
      if (counts && !IsOver(history, j, history.size())) newer.insert(other.timestamp);
    }
    const uint64_t ordinal = newer.size() + 1;
    const uint32_t family = operation.cell.family;
    if (family <= rules.size() &&
        rules[family - 1].IsGarbage(ordinal, operation.cell.timestamp, now))
      continue;
    by_row[operation.row_key].push_back(operation.cell);
  }
  return Sorted(std::move(by_row));
}

std::unique_ptr<CellCursor> MergeOf(std::vector<OwnedRows> newest_first, Random& random,
                                    Direction direction) {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (OwnedRows& rows : newest_first) {
    cursors.push_back(NewVectorCursor(
        std::move(rows), {.direction = direction, .batch_cells = 1 + random.Below(6)}));
  }
  return NewMergeCursor(std::move(cursors), direction);
}

}  // namespace stele::internal
