// manifest/manifest_log.h: the manifest file: edits in order, and CURRENT, which says which manifest counts.
//
// Path:      db install -> Append; db open -> Recover; first open -> Create.
// Format:    docs/format/manifest.md. MANIFEST-<number>: a header (magic, format version, feature words, database id, creation mark), then
//            records framed with length, chained checksum and payload (an encoded edit). CURRENT: magic, manifest number, database id,
//            checksum; replaced by write to a temporary, sync, rename, directory sync.
// Durability: Append returns after the record is synced. A failed write or sync of the manifest poisons: every later Append answers the
//            first error (engine rule 20).
// Growth:    past a size (a constant, relative to the snapshot) Append begins a new manifest with a snapshot edit and switches CURRENT.
// Errors:    DataLoss naming file and offset for damage; FailedPrecondition for a directory that is not a database; Unimplemented for a
//            newer format or an unknown incompatible feature.
// Threads:   one thread at a time (the installer).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/edit.h"
#include "manifest/version.h"

namespace stele::internal {

// What a directory is, decided before anything in it is touched.
enum class DirectoryState {
  kMissing,             // no such directory (its parent exists)
  kEmpty,               // nothing in it, or only a lock file
  kUnfinishedCreation,  // only what a creation that was cut off leaves: lock, temporaries, a manifest and a segment that carry the creation
                        // mark and no record; no CURRENT that names a whole manifest with a record
  kDatabase,            // CURRENT names a manifest
};
// FailedPrecondition for any other directory, naming what is in the way (a foreign file, a half-copied database: SSTables or segments
// without CURRENT ...), and for a path that is not a directory.
absl::StatusOr<DirectoryState> InspectDirectory(FileSystem* file_system, const std::string& directory);

class ManifestLog {
 public:
  // A new database: manifest `number` with the first Version (no tables), synced, then CURRENT, synced. The directory exists; leftovers of
  // an unfinished creation are replaced.
  static absl::StatusOr<std::unique_ptr<ManifestLog>> Create(FileSystem* file_system, std::string directory, uint64_t database_id,
                                                             uint64_t number, const Version& initial);
  struct Recovered {
    std::unique_ptr<ManifestLog> log;  // null when read_only
    std::shared_ptr<const Version> version;
    uint64_t database_id = 0;
    uint64_t manifest_number = 0;
    uint64_t discarded_bytes = 0;  // a torn last record
  };
  // Reads CURRENT and its manifest. A torn last record (never acked) is cut off; damage before it is DataLoss.
  static absl::StatusOr<Recovered> Recover(FileSystem* file_system, std::string directory, bool read_only);
  ~ManifestLog();

  // Applies the edit to the current Version and makes it durable; answers the new Version.
  absl::StatusOr<std::shared_ptr<const Version>> Append(const Edit& edit);
  std::shared_ptr<const Version> version() const;
  uint64_t number() const;
  uint64_t database_id() const;
  bool poisoned() const;
  // Numbers for a new manifest come from here; called only by Append.
  void SetFileNumberSource(std::function<uint64_t()> next_file_number);

 private:
  class State;
  explicit ManifestLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A manifest as text for `stele dump`: header, then each edit with offset; goes on past damage only to say where it is.
absl::StatusOr<std::string> DumpManifest(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
