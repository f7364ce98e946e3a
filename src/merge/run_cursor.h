// merge/run_cursor.h: sources whose rows do not overlap, as one source: each row is in one of them at most.
//
// Path:      read/source_chain and compaction_job divide a stack into runs (manifest/runs.h) -> here -> merge_cursor.
// Cost:      a source is opened when its rows are come to and let go when they are left, so that a run of a hundred files has one open;
//            a seek finds its source by binary search and opens no other unless that one has no row left.
// Errors:    those of opening, and of the source that is open. After a failure the cursor stays there.
// Threads:   confined, as the cursors.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"

namespace stele::internal {

// What a source of the run shows lies in [start, end). The bytes outlive the cursor.
struct RunPart {
  std::string_view start;
  std::string_view end;
  bool unbounded_end = false;
};

// The cursor over part `index`, of the run's direction and with no rows but the part's; null when nothing of it is wanted.
using OpenRunPart = std::function<absl::StatusOr<std::unique_ptr<CellCursor>>(size_t index)>;

// `ascending` parts do not overlap.
std::unique_ptr<CellCursor> NewRunCursor(std::vector<RunPart> ascending, OpenRunPart open, Direction direction);

}  // namespace stele::internal
