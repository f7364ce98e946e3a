// db/readable_manifest.h: reads a damaged manifest as far as it is readable, and adds what the
// SSTables say. Changes nothing.
//
// Used by:   db/damage.cc.
// Calls:     manifest/manifest_reader.h, db/gapped_edits.h, db/file_edits.h.
// Errors:    those of the file system, and the error of a database of which nothing is readable.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/manifest_log.h"

namespace stele::internal {

struct ReadableManifest {
  ManifestLog::Recovered recovered;  // without a log
  // The damaged file, its first bad byte, and a description. The file is CURRENT if the manifest is
  // undamaged or lost.
  std::string file;
  uint64_t offset = 0;
  std::string what;
  // SSTables in the directory that the Version does not use. Other files have replaced them, or
  // nothing says where they belong.
  std::vector<std::string> unused_sstables;
};

// Returns whether the directory has a manifest or an SSTable.
bool HasReadableFiles(FileSystem* file_system, const std::string& directory);

// Reads what is readable of a database whose ManifestLog::Recover fails with `why`, or which has no
// CURRENT. The manifest that CURRENT names is preferred, then the one with the highest number.
// Applies the edits of this manifest before the first bad one, and then the readable edits after it
// (db/gapped_edits.h). SSTables that these do not list are added (db/file_edits.h), or all SSTables
// if no manifest has a good first edit. With `lacks_edits`, the log proves that the whole manifest
// lacks its last edits. Returns `why` if nothing is readable.
absl::StatusOr<ReadableManifest> RecoverReadable(FileSystem* file_system,
                                                 const std::string& directory,
                                                 const absl::Status& why, bool lacks_edits);

}  // namespace stele::internal
