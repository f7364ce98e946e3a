// merge/merge_cursor.h: many resolved sources, newest first, as one resolved source.
//
// The one place where recency decides (reads, flush and compaction all come through here):
//   - of one identity the newest source's version stays;
//   - a tombstone of source s hides what it covers in sources older than s, never in s itself;
//   - the tombstones that stay are handed out (the newest row tombstone; family tombstones not under one; range tombstones not under
//     either), so that the result is again a source whose tombstones hide what is older than all inputs.
// Where one source alone has the current row, its cells pass through untouched; where it alone has the rows up to the next row of all
// others, stepping costs one comparison (merge/row_order.h).
// Cost:      a loser tree over the sources' row keys; within a row, over the columns of the sources that have it (merge/row_merge.h).
#pragma once

#include <memory>
#include <vector>

#include "cell/cell_cursor.h"
#include "merge/sole_column.h"

namespace stele::internal {

// `newest_first` are of one direction; the result owns them. One source is handed back as it is. `sole_column`, if it is one, is all that
// will be asked for of a row.
std::unique_ptr<CellCursor> NewMergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first, Direction direction,
                                           SoleColumn sole_column = {});

}  // namespace stele::internal
