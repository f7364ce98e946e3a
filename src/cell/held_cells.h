// cell/held_cells.h: cells with bytes of their own, so that what they came from can go while a giant row is read on.
//
// Path:      read's row_stream, row_lookup, pass_reader; merge and section_join, for what they have read ahead of their user.
// Errors:    ResourceExhausted for refused memory; the cells are then as they were.
// Threads:   pure.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell.h"

namespace stele::internal {

inline size_t CellBytes(const Cell& cell) { return cell.qualifier.size() + cell.value.size(); }

// Moves what `cells` view to the buffer in the answer; neighbours that share a value go on sharing it. A deferred value stays deferred.
absl::StatusOr<Buffer> HoldCells(std::span<Cell> cells);

// A cursor that hands out cells of another, whose batches it has read ahead, cannot let that one unpin while it has cells left over. A user
// that lets go after every batch gives it an occasion soon; for one that collects many batches first, what is left over is copied once it
// came from more batches than this.
inline constexpr uint32_t kBatchesBeforeHold = 4;

}  // namespace stele::internal
