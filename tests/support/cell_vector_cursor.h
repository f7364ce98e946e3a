// tests/support/cell_vector_cursor.h: a strict cell cursor over rows in memory. It detects callers
// that rely on more than the contract of cell/cell_cursor.h.
//
// Contract:  - Each returned byte string has its own allocation. It is overwritten and freed as
//              soon as the contract allows. A caller that keeps a view too long reads 0xdb, or
//              AddressSanitizer reports it.
//            - Batches are small (batch_cells), so that few rows fit in one batch.
//            - SkipTo skips as much as it may.
//            - A call out of order ends the program: reading without a row, skipping backwards, or
//              moving on after the end or after a failure.
// Threads:   Confined to one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"

namespace stele::internal {

// A cell that owns its bytes.
struct OwnedCell {
  uint32_t family = kRowFamily;
  CellKind kind = CellKind::kSet;
  int64_t timestamp = 0;
  int64_t range_start = 0;
  std::string qualifier;
  std::string value;

  static OwnedCell Copy(const Cell& cell) {
    return {cell.family,
            cell.kind,
            cell.timestamp,
            cell.range_start,
            std::string(cell.qualifier),
            std::string(cell.value)};
  }
  Cell View() const {
    return {.family = family,
            .kind = kind,
            .timestamp = timestamp,
            .range_start = range_start,
            .qualifier = qualifier,
            .value = value};
  }
  friend bool operator==(const OwnedCell&, const OwnedCell&) = default;
};

struct OwnedRow {
  std::string row_key;
  std::vector<OwnedCell> cells;
  friend bool operator==(const OwnedRow&, const OwnedRow&) = default;
};

// The contents of a source: row keys strictly ascending, cells in the order of cell.h, each cell
// key at most once.
using OwnedRows = std::vector<OwnedRow>;

struct VectorCursorOptions {
  Direction direction = Direction::kForward;
  size_t batch_cells = 3;
  // The number of the call that fails; a call is a seek, NextRow or ReadCells, counted from 1. 0:
  // no call fails.
  uint64_t failing_call = 0;
};

// `rows` must be sorted: the program ends if they are not.
std::unique_ptr<CellCursor> NewVectorCursor(OwnedRows rows,
                                            const VectorCursorOptions& options = {});

// Calls cursor->ReadCells(cells). The test ends if the row has more cells although IsRowDone() was
// true.
bool ReadNextCells(CellCursor* cursor, std::vector<Cell>* cells);

// Reads everything from the first row in the cursor's direction, in the cursor's row order. Omits
// rows without cells.
OwnedRows ReadAll(CellCursor* cursor);
// Reads the remaining cells of the current row and calls Unpin() after each batch.
std::vector<OwnedCell> ReadRow(CellCursor* cursor);

// Joins the range tombstones of a column that touch or overlap. `cells` are sorted. Joining does
// not change which cells are hidden. Tests compare joined forms because a cursor's batches decide
// how far it joins.
std::vector<OwnedCell> WithRangesJoined(const std::vector<OwnedCell>& cells);
OwnedRows WithRangesJoined(OwnedRows rows);

}  // namespace stele::internal
