// memtable/plain_cells.h: reads one row of a memtable without a cursor, if the row has a simple
// form.
//
// Used by:   memtable/memtable.cc (ReadPlainRow).
// Plain:     a row with few cells, all of them versions with values: no tombstones, no deltas.
//            Nearly every row read by key is plain. A cursor handles all other rows.
// Threads:   a pure function; runs concurrently with inserts.
#pragma once

#include <cstdint>
#include <vector>

#include "cell/cell_cursor.h"
#include "memtable/row_node.h"

namespace stele::internal {

// Appends the row's cells as of `sequence`, in order, as a cursor with these options returns them;
// there may be none. Returns false, and appends nothing, if the row is not plain.
bool AppendPlainCells(const RowNode& row, uint64_t sequence, const CursorOptions& options,
                      std::vector<Cell>* cells);

}  // namespace stele::internal
