// merge/run_cursor.h: presents the sources of a sorted run, whose rows do not overlap, as one
// source.
//
// Used by:   read/source_chain.cc and jobs/compaction_job.cc, for each sorted run of a stack
//            (manifest/runs.h). The cursor is one of the sources of a merge (merge/merge_cursor.h).
// Cost:      a source is opened when the cursor reaches its rows and closed when it leaves them, so
//            a run of a hundred files has one open. A seek finds its source by binary search and
//            opens another one only if that source has no row left.
// Errors:    those of opening a source, and of the open source. After a failure the cursor does not
//            move any more.
// Threads:   confined, like the cursors.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"

namespace stele::internal {

// The rows of one source are in [start, end). The bytes must outlive the cursor.
struct RunPart {
  std::string_view start;
  std::string_view end;
  bool unbounded_end = false;
};

// Returns the cursor over part `index`, in the run's direction and without rows outside the part;
// null if nothing of it is needed.
using OpenRunPart = std::function<absl::StatusOr<std::unique_ptr<CellCursor>>(size_t index)>;

// `ascending` are parts that do not overlap.
std::unique_ptr<CellCursor> NewRunCursor(std::vector<RunPart> ascending, OpenRunPart open,
                                         Direction direction);

}  // namespace stele::internal
