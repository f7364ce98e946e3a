// io/output_file.h: keeps an output from replacing a file that is read, and replaces a file
// atomically.
//
// Threads:   safe for different files.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "io/file_system.h"

namespace stele::internal {

// Returns InvalidArgument if one of the outputs is one of the inputs, or is inside an input that is
// a directory. Symbolic links count as their targets and as files of their own. An output or an
// input that is "" is ignored.
absl::Status CheckOutputsAreNotInputs(const std::vector<std::string>& outputs,
                                      const std::vector<std::string>& inputs);

// Returns the file that ReplaceFileDurably writes before it replaces `path`.
std::string NewFileOf(const std::string& path);

// Writes `text` to `path`. After a crash the file has its old contents or all of `text`, and after
// this function returned OK it has `text`. Uses the file `path`.stele.new: replaces it if a killed
// process left it, and removes it on failure.
absl::Status ReplaceFileDurably(FileSystem* file_system, const std::string& path,
                                std::string_view text);

// Returns the file that `path` names after symbolic links, so that a link stays a link.
std::string LinkTargetOf(const std::string& path);

// Creates `path` for writing. It gets the permissions and, where the process may set it, the owner
// of `replaced`, if that exists. A file or a link with the name `path` is removed. Returns null and
// sets errno if it fails.
std::FILE* CreateInPlaceOf(const std::string& path, const std::string& replaced);

// Writes what `file` has in memory, and syncs it. Call it before the file replaces another one, so
// that a power failure cannot leave an empty file.
absl::Status SyncNewFile(std::FILE* file, const std::string& path);

}  // namespace stele::internal
