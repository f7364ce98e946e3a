// staging/row_line.h: parses a line of `stele export`: a row as JSON.
//
// Format:    see lab/values/row_events.h. A cell without "timestamp" has the time 0.
// Errors:    InvalidArgument without the position: also more than kRowLineCellsMax cells, or than
//            kStagedFamiliesMax families.
// Memory:    the row. While it is built, its texts again, 32 bytes for each cell, and three times
//            the longest text.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "stele/mutation.h"

namespace stele::internal::lab {

struct StagedRow {
  RowMutation row;                    // with one SetCell per cell
  std::vector<std::string> families;  // of the cells, each one once
  size_t bytes = 0;                   // an estimate of its memory
};

absl::Status ParseRowLine(std::string_view line, StagedRow* out);

}  // namespace stele::internal::lab
