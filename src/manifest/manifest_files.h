// manifest/manifest_files.h: writes a new manifest and switches CURRENT to it, in two steps.
//
// Used by:   manifest/manifest_log.cc (create, recover, growth), admin/checkpoint.cc.
// Calls:     manifest/edit_writer.h, manifest/current_file.h.
// Steps:     PrepareManifest writes both temporary files and syncs nothing. If it fails, the old
//            manifest remains current and nothing is lost. InstallManifest syncs the manifest,
//            renames it, syncs the directory, and then does the same with CURRENT. If it fails, it
//            is unknown which manifest is current, so the caller must stop accepting edits.
// Memory:    one record, also for a large snapshot.
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

// If the header has no nonce, it gets a random one.
absl::StatusOr<NewManifest> PrepareManifest(FileSystem* file_system, const std::string& directory,
                                            ManifestHeader header, const Version& version,
                                            uint32_t part_bytes = kRecordPayloadBytesMax);
// Returns the installed manifest, open for appending.
absl::StatusOr<std::unique_ptr<File>> InstallManifest(NewManifest prepared);

}  // namespace stele::internal
