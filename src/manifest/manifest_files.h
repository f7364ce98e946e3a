// manifest/manifest_files.h: a new manifest and the switch of CURRENT to it, each step named so that a failure is judged by how far it
// came.
//
// Path:      manifest_log.cc (create, recover, growth).
// Steps:     Prepare writes both temporaries and syncs nothing: if it fails the old manifest still counts and nothing is lost.
//            Install syncs the manifest, gives it its name, syncs the directory, and then does the same with CURRENT. If it fails nobody
//            knows which manifest counts: the caller is poisoned.
// Memory:    one record, however large the snapshot is.
// Errors:    those of the file system.
// Threads:   one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/manifest_format.h"
#include "manifest/version.h"

namespace stele::internal {

struct NewManifest {
  FileSystem* file_system = nullptr;
  std::string directory;
  ManifestHeader header;
  std::unique_ptr<File> manifest;  // both under their temporary names
  std::unique_ptr<File> current;
  uint64_t end_offset = 0;
  uint64_t last_checksum = 0;
};

// A header without a nonce gets a random one.
absl::StatusOr<NewManifest> PrepareManifest(FileSystem* file_system, const std::string& directory, ManifestHeader header,
                                            const Version& version, uint32_t part_bytes = kRecordPayloadBytesMax);
// The installed manifest, open for appending.
absl::StatusOr<std::unique_ptr<File>> InstallManifest(NewManifest prepared);

}  // namespace stele::internal
