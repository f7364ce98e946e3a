// db/damage.h: opens a damaged database for reading, as far as OnDamage allows it, and notes the
// damage for Verify.
//
// Used by:   db/open.cc.
// Calls:     db/readable_manifest.h, wal/log_reader.h.
// Why:       docs/decisions/0050-damaged-logs-are-only-read.md.
// Errors:    DataLoss with file and offset for damage that the options do not accept.
// Threads:   the thread that opens the database.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/storage.h"
#include "manifest/manifest_log.h"
#include "wal/log_reader.h"

namespace stele::internal {

// Like InspectDirectory. With kReadAround, a directory that has a manifest or an SSTable is a
// database even if CURRENT is missing.
absl::StatusOr<DirectoryState> InspectToOpen(FileSystem* file_system, const std::string& directory,
                                             const EngineOptions& options);

// Recovers the manifest without changing it. With kReadAround, reads around the damage of a
// manifest, finds a manifest that CURRENT does not name, and adds SSTables that no edit lists.
absl::StatusOr<ManifestLog::Recovered> RecoverManifest(Storage& storage);

// Returns the options for reading the log.
LogReadOptions ReadOptionsOf(const Storage& storage, const Version& version);

// Checks that neither the log nor the manifest lost its end, unless the options accept it.
absl::Status CheckEnds(Storage& storage, const ManifestLog::Recovered& recovered,
                       const LogTail& tail);

}  // namespace stele::internal
