// db/storage.h: the components of a database that recovery restores and that change its files:
// directory, state, log, manifest, commit queue, installer and job runner.
//
// OpenStorage returns it after recovery. No thread runs yet. Engine (db/engine.h) owns it, and adds
// the components for reads, writes and background threads.
//
// Used by:   db/engine.cc calls OpenStorage, which is in db/open.cc.
// Calls:     manifest/manifest_log.h (Recover or Create), wal/log_reader.h and wal/commit_log.h.
//            The log is replayed there, too (db/recovery.h).
// Lifetime:  the components refer to each other, so a Storage does not move. They are destroyed in
//            reverse order.
// Threads:   confined until Engine owns it; then each component documents its threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/memory_tracker.h"
#include "commit/committer.h"
#include "commit/installer.h"
#include "io/file_system.h"
#include "io/space_reserve.h"
#include "jobs/job_runner.h"
#include "manifest/manifest_log.h"
#include "sstable/read/block_cache.h"
#include "state/database_clock.h"
#include "state/database_directory.h"
#include "state/engine_options.h"
#include "state/engine_state.h"
#include "state/events.h"
#include "state/open_check.h"
#include "state/write_gate.h"
#include "views/pinned_views.h"
#include "views/sstable_files.h"
#include "wal/commit_log.h"
#include "wal/log_reader.h"
#include "write/write_throttle.h"

namespace stele::internal {

struct Storage {
  // `held_directory`: see DatabaseDirectory.
  Storage(std::string path, EngineOptions options_in, std::shared_ptr<FileSystem> held_directory);

  const EngineOptions options;
  DatabaseDirectory directory;
  OpenCheck open;
  Events events;
  DatabaseClock clock;
  MemoryTracker memory;
  BlockCache cache;
  SstableFiles files;
  PinnedViews pins;
  EngineState state;
  SpaceReserve reserve;
  WriteGate gate;
  WriteThrottle throttle;
  uint64_t replayed_log_files = 0;        // the files that the recovery replayed
  uint64_t replayed_log_bytes = 0;        // of the records in them
  uint64_t discarded_log_bytes = 0;       // that the recovery discarded
  std::vector<LogDamage> log_damages;     // found by the recovery; empty unless OnDamage accepts it
  std::unique_ptr<FileLock> lock;         // null once closed, or if LOCK does not exist
  std::unique_ptr<ManifestLog> manifest;  // null when read-only; likewise log, installer, jobs
  std::unique_ptr<CommitLog> log;
  std::unique_ptr<Committer> committer;
  std::unique_ptr<Installer> installer;
  std::unique_ptr<JobRunner> jobs;
};

// Opens or creates the database at `path` of options.file_system, and recovers it. See
// Database::Open.
absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(std::string path, EngineOptions options);

}  // namespace stele::internal
