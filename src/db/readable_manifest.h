// db/readable_manifest.h: reads a damaged manifest as far as it is readable. Changes nothing.
//
// Path:      db/damage.cc -> here -> manifest/manifest_reader.h, db/gapped_edits.h.
// Errors:    DataLoss if no manifest has a good first edit; those of the file system.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "db/gapped_edits.h"
#include "io/file_system.h"
#include "manifest/manifest_log.h"

namespace stele::internal {

struct ReadableManifest {
  ManifestLog::Recovered recovered;  // without a log
  // The damaged file, its first bad byte, and a description. CURRENT, if the manifest is whole.
  std::string file;
  uint64_t offset = 0;
  std::string what;
  // SSTables in the directory that the readable part does not name. They may have rows, or may be
  // garbage.
  std::vector<std::string> unlisted_sstables;
};

// Reads what is readable of a database whose ManifestLog::Recover fails with `why`, or which has no
// CURRENT. The manifest that CURRENT names is preferred, then the one with the highest number. Of
// the chosen manifest, the edits before the first bad one are applied, and then the readable edits
// after it (db/gapped_edits.h). Returns `why` if no manifest has a good first edit.
absl::StatusOr<ReadableManifest> RecoverReadable(FileSystem* file_system,
                                                 const std::string& directory,
                                                 const absl::Status& why,
                                                 const ReadFileSummary& read_summary);

}  // namespace stele::internal
