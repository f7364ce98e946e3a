// memtable/memtable_cursor.h: a cursor over a memtable's rows as of a sequence, resolved.
//
// Path:      Memtable::NewCursor -> merge.
// Rules:     engine rule 4. Operations above the sequence are not visible. Of each cell key the
//            newest operation is returned. A tombstone hides operations committed before it. The
//            tombstones returned are the newest row tombstone; else family tombstones; else range
//            tombstones that are not inside another one of their column. The others would hide
//            nothing more in older sources. Range tombstones of one batch that touch or overlap are
//            returned as one.
// Cost:      finding a row takes logarithmic time, and the next column one step. The cursor jumps
//            over long sequences of: replaced versions of one cell key; unwanted families; skipped
//            columns; cells hidden by a tombstone that hides everything older in the row, the
//            family or the column.
// Latest:    with latest_only, of each column without range tombstones only the newest version is
//            returned. So the cost of such a read does not depend on the number of versions.
// Threads:   confined; runs concurrently with inserts.
#pragma once

#include <cstdint>
#include <memory>

#include "cell/cell_cursor.h"
#include "memtable/row_list.h"

namespace stele::internal {

// `rows` must outlive the cursor. `found` is a row that the caller will seek, to avoid a second
// search, or null.
std::unique_ptr<CellCursor> NewMemtableCursor(const RowList* rows, const RowNode* found,
                                              uint64_t sequence, const CursorOptions& options);

}  // namespace stele::internal
