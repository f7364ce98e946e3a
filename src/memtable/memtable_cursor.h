// memtable/memtable_cursor.h: a cursor over a memtable's rows and cells as of a sequence. It
// returns the newest operation of each cell key, without the cells that tombstones hide.
//
// Used by:   memtable/memtable.cc (NewCursor). The cursor is one of the sources of a merge
//            (merge/merge_cursor.h).
// Rules:     engine rule 4. Operations above the sequence are not visible. A tombstone hides the
//            operations that were committed before it. It is returned if it hides cells in older
//            sources: the row's newest tombstone, or else family tombstones, or else range
//            tombstones that no other one of their column contains. Range tombstones of one batch
//            that touch or overlap are returned as one.
// Cost:      finding a row takes logarithmic time, and finding the next column one step. The cursor
//            seeks past long sequences of replaced versions, unwanted families, skipped columns,
//            and cells that a tombstone of the row, the family or the rest of the column hides.
// Latest:    with latest_only, the cursor returns only the newest version of a column without range
//            tombstones. So the cost of such a read does not depend on the number of versions.
// Threads:   confined; runs concurrently with inserts.
#pragma once

#include <cstdint>
#include <memory>

#include "cell/cell_cursor.h"
#include "memtable/row_list.h"

namespace stele::internal {

// Returns a cursor over `rows`, which must outlive it. `found` may be null. Otherwise it is the row
// that the caller will seek to, and saves a second search.
std::unique_ptr<CellCursor> NewMemtableCursor(const RowList* rows, const RowNode* found,
                                              uint64_t sequence, const CursorOptions& options);

}  // namespace stele::internal
