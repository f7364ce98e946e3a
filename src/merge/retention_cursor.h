// merge/retention_cursor.h: passes on the cells that GC rules keep: for reads, flush and
// compaction.
//
// RetentionPolicy (merge/version_counter.h) has the differences between these three. Below,
// garbage(ordinal, time) means that Retention::IsGarbage is true of the version with this ordinal
// at this time:
//
//   read
//     drop_tombstones; drops versions that are garbage(ordinal, now), with ordinals over all
//     sources
//   read without GC
//     drop_tombstones only (empty `rules`)
//   flush, compaction
//     drops a version if it is garbage(ordinal among the inputs, commit time of the newest input)
//     or garbage(1, now), and no other. Engine rule 9: a range delete outside the inputs may have
//     lowered the true ordinal. drop_tombstones only if the inputs reach the end of the tablet's
//     stack (engine rule 11)
//
// Ordinals count the distinct versions of a column that the input returns, newest first. Every
// version below a garbage version of a column is garbage (gc/retention.h), so the rest of a column
// may be skipped with SkipTo. In a row that one source alone has, and of which nothing is removed
// (RetentionPolicy::kept_sources), versions are not counted.
#pragma once

#include <cstdint>
#include <memory>

#include "cell/cell_cursor.h"
#include "merge/version_counter.h"

namespace stele::internal {

// Counts the dropped cells, for statistics and for the report of a compaction.
struct RetentionStats {
  uint64_t garbage_cells = 0;
  uint64_t tombstones_dropped = 0;
};

std::unique_ptr<CellCursor> NewRetentionCursor(std::unique_ptr<CellCursor> input,
                                               RetentionPolicy policy,
                                               RetentionStats* stats = nullptr);

}  // namespace stele::internal
