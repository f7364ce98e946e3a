// tools/stele/import_json.h: parses a row as `export` writes it: a line of JSON.
//
// Errors:    InvalidArgument without the position. For text that is not JSON, "not a JSON object".
// Memory:    the row, and three times its longest text. There is no tree of JSON values, so a line
//            with many small values does not need more.
// Threads:   pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "import_source.h"

namespace stele::cli {

// The most cells that a table accepts in one write (stele/schema.h).
inline constexpr size_t kImportCellsMax = 1'000'000;

// Parses {"row":..,"cells":[{"family":..,"qualifier":..,"value":..,"timestamp":..},...]}. Each text
// may also be base64 under NAME_base64. Other members are ignored.
absl::Status ParseRowJson(std::string_view line, ImportRow* row);

}  // namespace stele::cli
