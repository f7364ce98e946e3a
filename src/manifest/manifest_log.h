// manifest/manifest_log.h: the manifest, a log of edits, and CURRENT, which names the current
// manifest.
//
// Used by:   commit/installer.cc (Append), db/open.cc (Recover, or Create for a new database).
// Calls:     manifest/edit_writer.h for an edit, manifest/manifest_files.h for a new manifest,
//            manifest/manifest_reader.h for recovery.
// Format:    docs/reference/format/manifest.md. A manifest is a header and then records, each with
//            an edit or a part of one. The checksums are chained.
// Durability: Append returns after the edit is synced. A failed write is undone (the file is
//            truncated and synced) and may be retried. A failed sync, or a failed undo, poisons the
//            log: every later Append returns the first error (engine rule 20). After an Append that
//            poisons the log, the edit may or may not be on disk, so all files that it refers to
//            must be kept.
// Growth:    at a certain size (ManifestOptions) Append begins a new manifest with a snapshot edit
//            and switches CURRENT. If it cannot, the old manifest continues.
// Sharing:   a hard-linked copy of the database shares the manifest file. The first Append or Close
//            then switches to a new file, or fails with ResourceExhausted.
// Recovery:  continues in the existing manifest, so that it works on a full disk. The last edit or
//            end mark may be only in the page cache. Recovery therefore writes it again at the same
//            offset and syncs it. It does not do this for the first edit, which was synced before
//            CURRENT named the manifest.
// Names:     a manifest is renamed to its name after it is synced, so a file named MANIFEST-* is
//            never incomplete.
// Errors:    DataLoss with file and offset for corruption; FailedPrecondition for a directory that
//            is not a database; Unimplemented for another format version or an unknown
//            incompatible feature.
// Threads:   one thread at a time (the installer), except synced_end() and
//            snapshot_bytes().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/edit.h"
#include "manifest/manifest_format.h"
#include "manifest/version.h"

namespace stele::internal {

// The kind of a directory, determined before anything in it is changed.
enum class DirectoryState {
  kMissing,  // no such directory (its parent exists)
  kEmpty,    // nothing in it, or only LOCK and RESERVE
  // Contains only files of an unfinished creation: LOCK, RESERVE, temporary files, and manifests
  // that have the creation mark and no table except the token table. There is no CURRENT, and no
  // log segment, since the log is started after Create.
  kUnfinishedCreation,
  kDatabase,  // CURRENT names a manifest
};
// Returns FailedPrecondition for a path that is not a directory. Also for a directory with a
// foreign file, or with SSTables or segments but no CURRENT, as in a partial copy; the error names
// the file.
absl::StatusOr<DirectoryState> InspectDirectory(FileSystem* file_system,
                                                const std::string& directory);

// Checks that every file of the Version exists and has its size. Otherwise returns DataLoss that
// names the first wrong file, and how many there are. A file whose size cannot be read counts as
// correct.
absl::Status CheckFiles(FileSystem* file_system, const std::string& directory,
                        const Version& version);

struct ManifestOptions {
  // A manifest is replaced at max(bytes_min, snapshot_multiple * bytes of its snapshot).
  uint64_t bytes_min = uint64_t{1} << 20;
  uint64_t snapshot_multiple = 4;
  uint32_t part_bytes = kRecordPayloadBytesMax;  // a larger edit is divided into several records
  // The nonce of new manifests. 0: random, as it must be except in tests.
  uint64_t nonce = 0;
};

class ManifestLog {
 public:
  // Creates the manifest `number` of a new database with the first Version (no user tables),
  // synced, and then CURRENT, synced. The directory must be kEmpty or kUnfinishedCreation.
  // Otherwise the result is NotFound, AlreadyExists or the error of InspectDirectory. Leftover
  // files are removed.
  static absl::StatusOr<std::unique_ptr<ManifestLog>> Create(FileSystem* file_system,
                                                             std::string directory,
                                                             uint64_t database_id, uint64_t number,
                                                             const Version& initial,
                                                             ManifestOptions options = {});
  struct Recovered {
    std::unique_ptr<ManifestLog> log;  // null when read_only
    std::shared_ptr<const Version> version;
    uint64_t database_id = 0;
    uint64_t manifest_number = 0;
    uint64_t end_offset = 0;       // after the last complete edit
    uint64_t discarded_bytes = 0;  // the size of a torn last edit
    // It ends with the mark of Close. Without the mark, the database was in use, or the manifest
    // was truncated at the end of a record. The log is closed after the manifest, and its end mark
    // states where the manifest ended. Edits may follow that end (db/damage.cc).
    bool closed = false;
  };
  // Reads CURRENT and its manifest. A torn last edit, which was never acknowledged, is cut off;
  // corruption before it is DataLoss. Unless read_only, the recovered edits are durable when this
  // returns OK. The caller checks the files of the Version (CheckFiles) and removes leftover files
  // (temporary files, manifests other than `manifest_number`).
  static absl::StatusOr<Recovered> Recover(FileSystem* file_system, std::string directory,
                                           bool read_only, ManifestOptions options = {});
  ~ManifestLog();

  // Applies the edit to the current Version, makes it durable and returns the new Version. An
  // invalid edit is refused with InvalidArgument, and nothing is written.
  absl::StatusOr<std::shared_ptr<const Version>> Append(const Edit& edit);
  std::shared_ptr<const Version> version() const;
  uint64_t number() const;
  uint64_t database_id() const;
  bool poisoned() const;
  // How much of the current manifest is synced. Any thread.
  struct SyncedEnd {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };
  SyncedEnd synced_end() const;
  // The size of the first edit of the current manifest, and so about that of the next manifest. Any
  // thread.
  uint64_t snapshot_bytes() const;
  // Writes the end mark and syncs it. Append returns FailedPrecondition afterwards. A poisoned log
  // returns its first error and writes nothing.
  absl::Status Close();
  // Sets the source of numbers for new manifests; only Append calls it. Without it the number comes
  // from the Version.
  void SetFileNumberSource(std::function<uint64_t()> next_file_number);
  // Append calls it. While it returns true, the manifest is replaced at
  // max(bytes_min / 4, 2 * bytes of its snapshot).
  void SetSpaceIsScarce(std::function<bool()> space_is_scarce);

 private:
  class State;
  explicit ManifestLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns a manifest as text for `stele dump`: the header, then each edit with its offset. It
// reports a corrupt record and continues with the next record header that it finds.
absl::StatusOr<std::string> DumpManifest(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
