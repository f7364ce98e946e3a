// memtable/memtable_cursor.h: a memtable's rows as of a sequence, resolved.
//
// Path:      Memtable::NewCursor -> merge.
// Rules:     engine rule 4. Operations above the sequence are not there. Of one identity the newest operation stays; a tombstone hides
//            what was committed before it; those handed out are the newest row tombstone, or else family tombstones, or else range
//            tombstones not inside another of their column: what is left out would hide nothing more in older sources.
//            Range tombstones of one batch that touch or overlap are handed out as one.
// Cost:      a row is found in logarithmic time; long runs of replaced versions of one identity, of unwanted families, of skipped columns,
//            and of what a tombstone hides that leaves nothing older in the row, the family or the column, are jumped over, not walked.
// Threads:   confined; runs beside inserts.
#pragma once

#include <cstdint>
#include <memory>

#include "cell/cell_cursor.h"
#include "memtable/row_list.h"

namespace stele::internal {

// `rows` outlives the cursor. `found`: a row that will be sought, so that it is not searched for again; or null.
std::unique_ptr<CellCursor> NewMemtableCursor(const RowList* rows, const RowNode* found, uint64_t sequence, const CursorOptions& options);

}  // namespace stele::internal
