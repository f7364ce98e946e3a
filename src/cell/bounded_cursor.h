// cell/bounded_cursor.h: a cursor that sees only the rows of a reference's range.
//
// Path:      read, compaction: wraps an SSTable's cursor where the reference is narrower than the file (split, excision).
// Threads:   confined, as the cursor it owns.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cell/cell_cursor.h"

namespace stele::internal {

// Rows in [start, end); no end = unbounded. The result owns `input`.
std::unique_ptr<CellCursor> NewBoundedCursor(std::unique_ptr<CellCursor> input, Direction direction, std::string start,
                                             std::optional<std::string> end);

}  // namespace stele::internal
