// filter/reach.h: what a compiled filter has to see of a table, worked out before anything is read.
//
// Path:      program.h -> here; then the sources leave out families, columns, versions and rows that cannot matter.
// How:       backwards through a list, from what matters behind a stage to what matters before it. A stage that drops what it does not know
//            narrows it. A limit or offset of a row's cells counts all that comes before the last cell that matters. An interleave needs
//            what any branch needs, a condition besides all that its predicate looks at, a sink everything.
// Cost:      of a call about what compiling costs; nothing for a filter without stages.
// Threads:   pure.
#pragma once

#include "cell/timestamp_span.h"
#include "filter/column_ranges.h"
#include "filter/stage.h"
#include "model/row_ranges.h"

namespace stele::internal {

// Cells outside of it neither pass nor change what does.
struct Reach {
  ColumnRanges columns;
  TimestampSpan versions;

  static Reach All() { return {ColumnRanges::All(), {}}; }
  bool IsNone() const { return columns.IsNone() || versions.IsEmpty(); }
};

// `family_count` families have ranks.
Reach ReachOf(const StageList& list, uint32_t family_count);

// The result is the same if of each column only the newest version is there.
bool IsOfLatestOnly(const StageList& list);

// Whether any cell of a row passes is the same if of each column only the newest version is there.
bool IsDecidedByNewest(const StageList& list);

// No row outside of it gives a cell.
KeyRange RowsOf(const StageList& list);

}  // namespace stele::internal
