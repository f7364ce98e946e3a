// tools/stele/replaced_file.h: writes a file beside the one that it replaces.
//
// Threads:   pure functions, which use the file system.
#pragma once

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace stele::cli {

// Returns the file that `path` names after symbolic links, so that a link stays a link.
std::string TargetOf(const std::string& path);

// Creates `path` for writing. It gets the permissions and, where the process may set it, the owner
// of `replaced`, if that exists. A file or a link with the name `path` is removed. Returns null and
// sets errno if it fails.
std::FILE* CreateInPlaceOf(const std::string& path, const std::string& replaced);

// Writes what `file` has in memory, and syncs it. Call it before the file replaces another one, so
// that a power failure cannot leave an empty file.
absl::Status SyncNewFile(std::FILE* file, const std::string& path);

}  // namespace stele::cli
