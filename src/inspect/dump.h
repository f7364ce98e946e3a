// inspect/dump.h: any file of a database as text.
//
// Path:      `stele dump` -> here -> wal, sstable, manifest.
// Errors:    InvalidArgument for a file that is none of Stele's; DataLoss where not even its head can be read; those of the file system.
//            Bytes are never trusted.
// Threads:   pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace stele::internal {

// By what the file begins and ends with; where that says nothing, by its name. `cells`: of an SSTable also every cell.
absl::StatusOr<std::string> DumpFile(FileSystem* file_system, const std::string& path, bool cells);

}  // namespace stele::internal
