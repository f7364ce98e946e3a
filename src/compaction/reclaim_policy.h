// compaction/reclaim_policy.h: finds references that can be dropped unread, and stacks that are
// worth rewriting to free dead bytes.
//
// Used by:   compaction/picker.cc, jobs/job_scheduler.cc.
// Calls:     compaction/dead_share.h.
// Policy:    docs/decisions/0047-dead-bytes-are-sampled.md. Summaries give a lower and an upper
//            bound of the dead bytes. If the upper bound is large enough, a sample decides.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compaction/compaction_pick.h"
#include "compaction/stack_shape.h"

namespace stele::internal {

// Returns the oldest references that may be dropped unread (engine rule 11). All their cells are
// garbage, and their tombstones hide no cells in kept references. The bytes and the interval of the
// result are not set.
std::optional<InputRange> FindDroppableInputs(const Tablet& tablet,
                                              const TableDefinition& definition, int64_t now);

// All clusters, which reach the end of the stack, if enough of their bytes are dead.
struct DeadInputs {
  InputRange inputs;
  uint64_t dead_bytes = 0;
  uint64_t live_bytes = 0;  // the size of the rewritten data
};
struct DeadQuery {
  const TableDefinition& definition;
  const FileShares& parts;
  int64_t now = 0;
  // PickerInput::measure_dead; may be null.
  const std::function<std::optional<double>(const DeadSampleRequest&)>& measure_dead;
};
std::optional<DeadInputs> FindMajorInputs(const Tablet& tablet,
                                          const std::vector<OverlapCluster>& clusters,
                                          const DeadQuery& query);

// The operations of a memtable, which may hide cells in files.
struct HidingOperations {
  uint64_t row_tombstones = 0;
  uint64_t other_tombstones = 0;
  uint64_t versions = 0;
  int64_t timestamp_min = INT64_MAX;  // over versions
};
// A table is idle if nothing was committed to it for this long.
inline constexpr int64_t kIdleMicros = 30'000'000;
// True if the memtable of an idle table may hide enough bytes in the files to make a major
// compaction worthwhile after a flush. Only files are compacted, so without a flush the space would
// not be freed.
bool IsFlushWorthwhile(const TableState& table, const HidingOperations& operations);

}  // namespace stele::internal
