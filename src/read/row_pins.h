// read/row_pins.h: when the cells that a read has of a row are to be copied, so that a giant row of which little passes is not pinned all
// at once.
//
// Path:      row_stream, row_lookup ask after each batch; cell/held_cells.h copies.
// How:       what the sources come to (CursorStats.bytes_pinned) is held against what was kept of it. Where all passes nothing is copied;
//            where little does, what is copied is less than what was read for it.
// Units:     bytes.
// Threads:   confined.
#pragma once

#include <cstdint>

#include "cell/cell.h"
#include "cell/cell_cursor.h"
#include "stele/row.h"

namespace stele::internal {

// What a cell costs its reader beside its bytes, while it is assembled and shown.
inline constexpr size_t kShownCellBytes = sizeof(Cell) + sizeof(CellView);

class RowPins {
 public:
  // `stats` are those of the row's cursor.
  explicit RowPins(const CursorStats* stats) : stats_(*stats) {}

  // `cells` were kept, with `bytes` of their own.
  bool IsCopyDue(uint64_t cells, uint64_t bytes) const {
    const uint64_t pinned_bytes = stats_.bytes_pinned - bytes_before_;
    return pinned_bytes > kFreeBytes && pinned_bytes - kFreeBytes > 2 * (bytes + cells * kStoredCellBytes);
  }
  // The cursor let go of all.
  void Unpinned() { bytes_before_ = stats_.bytes_pinned; }

 private:
  static constexpr uint64_t kFreeBytes = uint64_t{1} << 20;  // a few row groups of each of many sources
  static constexpr uint64_t kStoredCellBytes = 32;           // about what a cell takes in a row group beside its bytes, at most

  const CursorStats& stats_;
  uint64_t bytes_before_ = 0;
};

}  // namespace stele::internal
