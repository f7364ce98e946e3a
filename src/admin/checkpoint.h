// admin/checkpoint.h: makes a consistent copy of a database in another directory, concurrently with
// reads and writes. The copy is a database.
//
// How:       takes one read point for all tables. Links the files of its Version, or copies them if
//            the file system has no links. Writes the contents of the memtables up to the point to
//            SSTables that only the copy has. Then writes a manifest with a new database id, an
//            empty log, and CURRENT. So the copy depends on no log record, and the original is only
//            read.
// Incremental: an older checkpoint of the same database keeps the files that are still needed; the
//            others are removed. The copy's database id is derived from the original's, which
//            identifies the copy later.
// Crash:     leaves the older checkpoint or the new one. A first checkpoint leaves a directory that
//            cannot be opened, with a mark that lets the next attempt start again there
//            (admin/checkpoint_target.h).
// Errors:    FailedPrecondition for a database with a damaged log or manifest, whose copy would
//            lack rows. FailedPrecondition for a directory that contains anything except an older
//            checkpoint of this database that was never opened for writing, or an unfinished one;
//            it is not changed then. Cancelled by the options' stop token, which is checked before
//            each file and each MiB of a copied file; this leaves what a crash would leave.
// Threads:   thread-safe; a lock in the directory excludes a second checkpoint into it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/memory_tracker.h"
#include "commit/installer.h"
#include "state/database_directory.h"
#include "state/engine_options.h"
#include "state/open_check.h"
#include "state/read_path.h"
#include "stele/options.h"
#include "wal/log_reader.h"

namespace stele::internal {

// The parts that a checkpoint reads. All must outlive the call.
struct CheckpointSource {
  DatabaseDirectory* directory = nullptr;
  const EngineOptions* options = nullptr;
  const OpenCheck* open = nullptr;
  const ReadPath* reads = nullptr;
  Installer* installer = nullptr;  // null when read-only
  // The damage of the log or the manifest that was accepted when the database was opened.
  const std::vector<LogDamage>* log_damages = nullptr;
  MemoryTracker* memory = nullptr;
};

absl::Status WriteCheckpoint(const CheckpointSource& source, const std::string& directory,
                             const CheckpointOptions& options);

}  // namespace stele::internal
