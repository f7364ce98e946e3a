// cell/held_cells.h: copies the bytes of cells, so that their source can be released before the
// rest of a very large row is read.
//
// Used by:   read/row_assembler.cc, read/row_lookup.cc and read/pass_reader.cc. merge/row_merge.cc
//            and sstable/read/section_join.cc, for cells that they have read before their caller
//            needs them.
// Errors:    ResourceExhausted for refused memory; the cells are then unchanged.
// Threads:   pure.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell.h"

namespace stele::internal {

inline size_t CellBytes(const Cell& cell) { return cell.qualifier.size() + cell.value.size(); }

// Copies the bytes of `cells` into the returned buffer and makes the cells point there. Neighbours
// that share a value still share it. A lazy value stays lazy.
absl::StatusOr<Buffer> CopyOut(std::span<Cell> cells);

// The number of batches after which leftover cells are copied. A merging cursor reads batches of
// its inputs in advance, and cannot unpin an input while it has cells left over. If the caller
// unpins after every batch, the input is soon unpinned, too. If it collects many batches, the
// cursor copies the leftover cells once they come from more batches than this.
inline constexpr uint32_t kBatchesBeforeHold = 4;

}  // namespace stele::internal
