// cell/bounded_cursor.h: a cursor that restricts another cursor to a row range.
//
// Used by:   read/source_chain.cc, jobs/compaction_job.cc and jobs/dead_sample.cc, for a reference
//            that covers only a part of its file (after a split or an excision).
// Threads:   confined, like the cursor that it owns.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cell/cell_cursor.h"

namespace stele::internal {

// Returns a cursor over rows in [start, end); without `end` the range is unbounded. The result owns
// `input`.
std::unique_ptr<CellCursor> NewBoundedCursor(std::unique_ptr<CellCursor> input, Direction direction,
                                             std::string start, std::optional<std::string> end);

}  // namespace stele::internal
