// read/held_cells.h: cells with bytes of their own, so that the pages they came from can go while a giant row is read on.
//
// Path:      row_stream, row_lookup.
// Errors:    ResourceExhausted for refused memory; the cells are then as they were.
// Threads:   pure.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell.h"
#include "stele/row.h"

namespace stele::internal {

inline size_t CellBytes(const Cell& cell) { return cell.qualifier.size() + cell.value.size(); }
// What a cell costs its reader beside its bytes, while it is assembled and shown.
inline constexpr size_t kShownCellBytes = sizeof(Cell) + sizeof(CellView);

// Moves what `cells` view to the buffer in the answer; neighbours that share a value go on sharing it.
absl::StatusOr<Buffer> HoldCells(std::vector<Cell>* cells);

// When to: after so many batches of which nothing passed, and then after twice as many, since each copy costs all the cells held.
class BarrenBatches {
 public:
  bool IsCopyDue() {
    if (++count_ < count_max_) return false;
    count_ = 0;
    count_max_ *= 2;
    return true;
  }

 private:
  uint32_t count_ = 0;
  uint32_t count_max_ = 16;
};

}  // namespace stele::internal
