// staging/row_files.h: reads files of row keys, and of rows as `stele export` writes them.
//
// Format:    keys: one per line, \xNN is a byte and \\ a backslash; empty lines are skipped.
//            rows: {"row":..,"cells":[{"family":..,"qualifier":..,"timestamp":..,"value":..}]}, one
//            object per line; a name with _base64 has bytes.
//            Files may be compressed with gzip or zstd. "-" is standard input.
// Errors:    InvalidArgument with path and line; errors of the file system.
// Threads:   pure functions.
// Memory:    the longest line, at most 64 MiB, and the memory of its row (row_line.h).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lab/staging/staged_table.h"

namespace stele::internal::lab {

// Adds one row for each key, with the cell f:q = "v".
absl::Status StageKeys(const std::string& path, StagedTable* table);
absl::Status StageRows(const std::string& path, StagedTable* table);

}  // namespace stele::internal::lab
