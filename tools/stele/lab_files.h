// tools/stele/lab_files.h: the files beside the database that the lab's verbs write.
//
// Errors:    errors of the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "session.h"

namespace stele::cli {

// Returns DATABASE.VERB-HASH, the file that lets an interrupted run continue. HASH is the XXH3 hash
// of the absolute input path and the table. Returns "" for a database that is not a directory.
std::string DefaultStatePath(const std::string& database, std::string_view verb,
                             const std::string& input, const std::string& table);

// Returns a usage error if two of the outputs of a command are one file. A path that is "" is
// ignored.
absl::Status CheckAreDifferent(const std::vector<std::string>& outputs);

// Returns NotFound if the directory of one of the files does not exist, InvalidArgument for a
// directory, and PermissionDenied if a file with this path cannot be written. Call it before work
// whose result the files get. Opens no file. A path that is "" is ignored.
absl::Status CheckOutputDirectories(const std::vector<std::string>& paths);

// Writes a report; an older file is replaced.
absl::Status WriteReport(const std::string& path, std::string_view text);

// The same, but a reader never sees a part of the new file, and a failure keeps the older one.
absl::Status ReplaceFile(const std::string& path, std::string_view text);

// Notes what a server does not store of the tables of a design.
void NoteUnstored(Session& session, bool has_key_schema);

// Returns the error of a command that was built without stele::lab.
absl::Status WithoutLab(std::string_view verb);

}  // namespace stele::cli
