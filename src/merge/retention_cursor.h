// merge/retention_cursor.h: passes on what retention keeps: live cells for reads, the stored remainder for flush and compaction.
//
// One implementation for all three; what differs is in RetentionPolicy:
//   read        drop_tombstones; drop versions condemned(rank, timestamp, now), rank over all sources
//   read, GC not applied   drop_tombstones only (empty `rules`)
//   flush, compaction      drop a version iff condemned(rank among the inputs, commit time of the newest input) or condemned(1, now)
//               (engine rule 9: a ranged delete outside the inputs may have lowered the true rank); drop_tombstones only if the inputs
//               reach the end of the tablet's stack (engine rule 11)
// Ranks count distinct versions of a column that the input hands out, newest first. In a column everything below a condemned version is
// condemned (gc/retention.h), so the rest of a column may be skipped with SkipTo.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cell/cell_cursor.h"
#include "gc/retention.h"

namespace stele::internal {

struct RetentionPolicy {
  // By family rank - 1; shorter or empty: what is missing keeps everything. They outlive the cursor.
  std::span<const Retention> rules;
  int64_t now = 0;
  // Set for flush and compaction: ranks are partial, and are judged at this time instead of now.
  bool partial = false;
  int64_t newest_commit_time = 0;
  bool drop_tombstones = false;
  // The input hands out deferred values (cell.h): those of cells that stay are read here.
  bool reads_deferred = false;
  // Partial: by family rank - 1; what is missing is known. Of the others the age alone counts, for a newer ranged delete may have lowered
  // ranks without a seal (engine rule 8).
  std::vector<bool> unknown_ranks;
};

// Counts what it dropped, for Stats and for the report of a compaction.
struct RetentionStats {
  uint64_t cells_condemned = 0;
  uint64_t tombstones_dropped = 0;
};

std::unique_ptr<CellCursor> NewRetentionCursor(std::unique_ptr<CellCursor> input, RetentionPolicy policy, RetentionStats* stats = nullptr);

}  // namespace stele::internal
