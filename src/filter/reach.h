// filter/reach.h: determines which cells of a table a compiled filter needs to see, before anything
// is read.
//
// Used by:   filter/program.cc. By its result the sources leave out families, columns, versions and
//            rows that cannot matter.
// How:       goes through the stages from last to first. From the cells that matter after a stage
//            it computes those that matter before it. A stage that drops cells outside a range
//            narrows it. A limit or offset of a row's cells counts all cells before the last one
//            that matters. An interleave needs the cells that any branch needs; a condition also
//            needs all cells that its predicate looks at; a sink needs everything.
// Cost:      about as much as compiling; nothing for a filter without stages.
// Threads:   pure.
#pragma once

#include "cell/timestamp_span.h"
#include "filter/column_ranges.h"
#include "filter/stage.h"
#include "model/row_ranges.h"

namespace stele::internal {

// Cells outside of it neither pass nor affect other cells.
struct Reach {
  ColumnRanges columns;
  TimestampSpan versions;

  static Reach All() { return {ColumnRanges::All(), {}}; }
  bool IsNone() const { return columns.IsNone() || versions.IsEmpty(); }
};

// The table has `family_count` families; their indexes are 1 to family_count.
Reach ReachOf(const StageList& list, uint32_t family_count);

// True if the result depends only on the newest version of each column.
bool IsOfLatestOnly(const StageList& list);

// True if the newest versions of the columns determine whether any cell of a row passes.
bool IsDecidedByNewest(const StageList& list);

// Rows outside of the returned range give no cell.
KeyRange RowsOf(const StageList& list);

}  // namespace stele::internal
