// tests/support/cell_vector_cursor.h: a cell cursor over rows in memory that is as strict as the contract of cell/cell_cursor.h allows.
//
// Contract:  - Bytes handed out lie in allocations of their own, which are overwritten and freed as soon as the contract lets them go: a
//              user that keeps a view too long reads 0xdb, or is caught by the address sanitizer.
//            - Batches are small (batch_cells), so that a row hardly ever comes in one.
//            - SkipTo leaves out all it may.
//            - Calls out of order end the program: reading without a row, skipping backwards, moving on after the end or a failure.
// Threads:   confined.
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
  uint32_t family = kRowRank;
  CellKind kind = CellKind::kSet;
  int64_t timestamp = 0;
  int64_t range_start = 0;
  std::string qualifier;
  std::string value;

  static OwnedCell Copy(const Cell& cell) {
    return {cell.family, cell.kind, cell.timestamp, cell.range_start, std::string(cell.qualifier), std::string(cell.value)};
  }
  Cell View() const {
    return {.family = family, .kind = kind, .timestamp = timestamp, .range_start = range_start, .qualifier = qualifier, .value = value};
  }
  friend bool operator==(const OwnedCell&, const OwnedCell&) = default;
};

struct OwnedRow {
  std::string row_key;
  std::vector<OwnedCell> cells;
  friend bool operator==(const OwnedRow&, const OwnedRow&) = default;
};

// What a source hands out: rows strictly ascending, cells in the order of cell.h and each identity once.
using OwnedRows = std::vector<OwnedRow>;

struct VectorCursorOptions {
  Direction direction = Direction::kForward;
  size_t batch_cells = 3;
  // The call (a seek, NextRow or ReadCells; counted from 1) that fails; 0: none does.
  uint64_t failing_call = 0;
};

// Ends the program if `rows` are not in order.
std::unique_ptr<CellCursor> NewVectorCursor(OwnedRows rows, const VectorCursorOptions& options = {});

// Everything that `cursor` hands out, from the edge on, in the cursor's own order of rows; rows without cells are left out.
OwnedRows ReadAll(CellCursor* cursor);
// All further cells of the current row, with Unpin() after each batch.
std::vector<OwnedCell> ReadRow(CellCursor* cursor);

// Sorted cells with the range tombstones of each column joined where they touch or overlap, which
// does not change what they hide. How far a cursor joins them depends on its batches.
std::vector<OwnedCell> WithRangesJoined(const std::vector<OwnedCell>& cells);
OwnedRows WithRangesJoined(OwnedRows rows);

}  // namespace stele::internal
