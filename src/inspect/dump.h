// inspect/dump.h: prints any file of a database as text.
//
// Used by:   `stele dump` (tools/stele/care.cc).
// Calls:     wal/log_reader.h, sstable/inspect/sstable_dump.h, manifest/manifest_log.h.
// Errors:    InvalidArgument for a file that Stele did not write; DataLoss if not even its header
//            can be read; those of the file system. Bytes are never trusted.
// Threads:   pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace stele::internal {

// The kind of file is detected by its first and last bytes; if they do not determine it, by its
// name. With `cells` every cell of an SSTable is printed.
absl::StatusOr<std::string> DumpFile(FileSystem* file_system, const std::string& path, bool cells);

}  // namespace stele::internal
