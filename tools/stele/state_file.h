// tools/stele/state_file.h: writes and removes the JSON files that record how far a verb got.
//
// Used by:   archive_state.cc, copy_marks.cc.
// Errors:    those of the file system.
// Threads:   thread-safe for different paths.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "row_text.h"

namespace stele::cli {

// Replaces the file durably and atomically with `json` as one line. Bytes that are not UTF-8 are
// written as replacement characters. `context` begins the message of an error.
absl::Status WriteStateFile(const std::string& path, const Json& json, const std::string& context);
// Removes the file durably. Returns OK if it does not exist.
absl::Status RemoveStateFile(const std::string& path);

}  // namespace stele::cli
