// merge/merge_cursor.h: merges many resolved sources, newest first, into one resolved source.
//
// Reads, flush and compaction use it, except reads of plain rows (PlainSources in
// read/row_cursors.h). Plain rows have no tombstones, so the first rule is enough for them.
//
// Rules:
// - of each cell key the newest source's version is kept;
// - a tombstone of source s hides cells in sources older than s, never in s itself;
// - the tombstones that remain are returned (the newest row tombstone; family tombstones not under
//   one; range tombstones under neither). So the result is again a source whose tombstones hide
//   cells that are older than all inputs.
//
// If only one source has the current row, its cells are passed through. If it also has the
// following rows up to the next row of all others, a step costs one comparison (merge/row_order.h).
// Cost:      a loser tree over the sources' row keys; within a row, over the columns of the sources
//            that have it (merge/row_merge.h).
#pragma once

#include <memory>
#include <vector>

#include "cell/cell_cursor.h"
#include "merge/sole_column.h"

namespace stele::internal {

// The cursors of `newest_first` have one direction; the result owns them. A single source is
// returned unchanged. `sole_column`, if set, is the only column that the caller reads.
std::unique_ptr<CellCursor> NewMergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first,
                                           Direction direction, SoleColumn sole_column = {});

}  // namespace stele::internal
