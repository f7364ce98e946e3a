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

// InspectDirectory. With kReadAround, a directory that has a manifest or an SSTable is a database,
// also if CURRENT is missing.
absl::StatusOr<DirectoryState> InspectToOpen(FileSystem* file_system, const std::string& directory,
                                             const EngineOptions& options);

// Recovers the manifest without changing it. With kReadAround, a damaged manifest is read around
// the damage, one that CURRENT does not name is found, and SSTables that it does not list are
// added.
absl::StatusOr<ManifestLog::Recovered> RecoverManifest(Storage& storage);

// The options with which the log is read.
LogReadOptions ReadOptionsOf(const Storage& storage, const Version& version);

// Checks that neither the log nor the manifest lost its end, unless the options accept it.
absl::Status CheckEnds(Storage& storage, const ManifestLog::Recovered& recovered,
                       const LogTail& tail);

}  // namespace stele::internal
