// cell/bounded_cursor.h: a cursor that restricts another cursor to a row range.
//
// Path:      read, jobs: wraps an SSTable's cursor if the tablet's reference covers only a
//            part of the file (after a split or an excision).
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
