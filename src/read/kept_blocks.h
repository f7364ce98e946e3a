// read/kept_blocks.h: of a memtable that a reader lets go of, the blocks of memory that what its user was shown last lies in.
//
// Path:      row_stream, when its view is taken up at rest -> here -> base/arena.h.
// Why:       the user may be looking at the row at that moment, so it stays where it is (docs/decisions/0031-readers-at-rest.md).
// Threads:   pure.
#pragma once

#include "base/arena.h"
#include "stele/row.h"

namespace stele::internal {

// Those of `blocks` that bytes of the row lie in, each once.
ArenaBlocks BlocksOfRow(ArenaBlocks blocks, const RowView& row);

}  // namespace stele::internal
