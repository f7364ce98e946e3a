// manifest/manifest_log.h: the manifest file: edits in order, and CURRENT, which says which manifest counts.
//
// Path:      db install -> Append; db open -> Recover; first open -> Create.
// Format:    docs/format/manifest.md. MANIFEST-<number>: a header (magic, format version, feature words, database id, creation mark), then
//            records framed with length, chained checksum and payload (an encoded edit, or a part of one). CURRENT: magic, manifest number,
//            database id, checksum; replaced by write to a temporary, sync, rename, directory sync.
// Durability: Append returns after the edit is synced. A failed write is undone (the file is cut back and synced) and may be tried again;
//            a failed sync, or an undo that fails, poisons: every later Append answers the first error (engine rule 20). After a failed
//            Append that poisons, the edit may or may not be on disk: whatever files it refers to must stay.
// Growth:    past a size (ManifestOptions) Append begins a new manifest with a snapshot edit and switches CURRENT. If it cannot, the old
//            one goes on.
// Recovery:  continues in the existing manifest, so that it works on a full disk. If the manifest
//            does not end with the mark of Close, its last edit may be only in the page cache.
//            Recovery then writes that edit again at the same offset.
// Names:     a manifest gets its name by a rename after it is synced, so a file named MANIFEST-* is never torn by its making.
// Errors:    DataLoss naming file and offset for damage; FailedPrecondition for a directory that is not a database; Unimplemented for a
//            newer format or an unknown incompatible feature.
// Threads:   one thread at a time (the installer), but for synced_end().
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
#include "manifest/manifest_format.h"
#include "manifest/version.h"

namespace stele::internal {

// What a directory is, decided before anything in it is touched.
enum class DirectoryState {
  kMissing,             // no such directory (its parent exists)
  kEmpty,               // nothing in it, or only a lock file
  kUnfinishedCreation,  // only what a creation that was cut off leaves: lock, temporaries, and manifests that carry the creation mark and
                        // hold no table; no CURRENT, and no segment: the log is started after Create
  kDatabase,            // CURRENT names a manifest
};
// FailedPrecondition for any other directory, naming what is in the way (a foreign file, a half-copied database: SSTables or segments
// without CURRENT ...), and for a path that is not a directory.
absl::StatusOr<DirectoryState> InspectDirectory(FileSystem* file_system, const std::string& directory);

// Every file that the Version refers to is there and has its size, or DataLoss that names the first that is not, and how many. A file that
// cannot be looked at counts as whole.
absl::Status CheckFiles(FileSystem* file_system, const std::string& directory, const Version& version);

struct ManifestOptions {
  // When a manifest is followed by a new one: at max(bytes_min, snapshot_multiple * bytes of its snapshot).
  uint64_t bytes_min = uint64_t{1} << 20;
  uint64_t snapshot_multiple = 4;
  uint32_t part_bytes = kRecordPayloadBytesMax;  // an edit above this takes several records
  uint64_t nonce = 0;                            // of the manifests that are made; 0: random, as it must be outside of tests
};

class ManifestLog {
 public:
  // A new database: manifest `number` with the first Version (no table of a user), synced, then CURRENT, synced. The directory exists and
  // is kEmpty or kUnfinishedCreation (else AlreadyExists, or what InspectDirectory says); leftovers are removed.
  static absl::StatusOr<std::unique_ptr<ManifestLog>> Create(FileSystem* file_system, std::string directory, uint64_t database_id,
                                                             uint64_t number, const Version& initial, ManifestOptions options = {});
  struct Recovered {
    std::unique_ptr<ManifestLog> log;  // null when read_only
    std::shared_ptr<const Version> version;
    uint64_t database_id = 0;
    uint64_t manifest_number = 0;
    uint64_t end_offset = 0;       // after the last whole edit
    uint64_t discarded_bytes = 0;  // a torn last edit
    // It ends with the mark of Close. A manifest that was cut at a record's end looks like one in use; whoever also closes the log, after
    // the manifest, and starts it again before the first Append, may take a closed log beside a manifest that is not closed for DataLoss.
    bool closed = false;
  };
  // Reads CURRENT and its manifest. A torn last edit (never acked) is cut off; damage before it is DataLoss. Unless read_only, what was
  // recovered is durable when this answers OK; the files that the Version refers to are for CheckFiles. Files left behind (temporaries,
  // manifests other than `manifest_number`) are the caller's to remove.
  static absl::StatusOr<Recovered> Recover(FileSystem* file_system, std::string directory, bool read_only, ManifestOptions options = {});
  ~ManifestLog();

  // Applies the edit to the current Version and makes it durable; answers the new Version. An edit that does not fit is refused with
  // InvalidArgument and nothing is written.
  absl::StatusOr<std::shared_ptr<const Version>> Append(const Edit& edit);
  std::shared_ptr<const Version> version() const;
  uint64_t number() const;
  uint64_t database_id() const;
  bool poisoned() const;
  // Of the manifest that counts, this much is synced. From any thread.
  struct SyncedEnd {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };
  SyncedEnd synced_end() const;
  // Writes the mark of a clean end and syncs it. Append answers FailedPrecondition afterwards. Nothing to do when poisoned: the first
  // error.
  absl::Status Close();
  // Numbers for a new manifest come from here; called only by Append. Without it, from the Version.
  void SetFileNumberSource(std::function<uint64_t()> next_file_number);

 private:
  class State;
  explicit ManifestLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A manifest as text for `stele dump`: header, then each edit with offset; goes on past damage only to say where it is.
absl::StatusOr<std::string> DumpManifest(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
