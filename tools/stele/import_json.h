// tools/stele/import_json.h: parses a row as `export` writes it: a line of JSON.
//
// Format:    see lab/values/row_events.h.
// Errors:    InvalidArgument without the position.
// Memory:    the row, and three times its longest text.
// Threads:   pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "import_source.h"

namespace stele::cli {

absl::Status ParseRowJson(std::string_view line, ImportRow* row);

}  // namespace stele::cli
