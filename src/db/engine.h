// db/engine.h: an open local database: the parts that make it up, put together and taken apart in order.
//
// Path:      db/open.cc builds it; db/local_database.cc and db/local_table.cc are its faces; the parts do the work:
//            committer (writes), installer (Version), background (flush, compaction), engine_state (views), sstable_files, clock, throttle.
// Lifetime:  shared by every handle, reader and snapshot; Close stops it early, the last handle's end closes it.
// Threads:   thread-safe; the parts say what each needs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/memory_budget.h"
#include "db/ahead_pool.h"
#include "db/background.h"
#include "db/committer.h"
#include "db/database_clock.h"
#include "db/engine_options.h"
#include "db/engine_state.h"
#include "db/events.h"
#include "db/installer.h"
#include "db/large_writes.h"
#include "db/open_loads.h"
#include "db/pinned_views.h"
#include "db/row_latches.h"
#include "db/space_reserve.h"
#include "db/sstable_files.h"
#include "db/write_throttle.h"
#include "io/file_system.h"
#include "manifest/manifest_log.h"
#include "sstable/block_cache.h"
#include "wal/commit_log.h"

namespace stele::internal {

class Engine {
 public:
  // See Database::Open. `directory` is a path of options.file_system.
  static absl::StatusOr<std::shared_ptr<Engine>> Open(std::string directory, EngineOptions options);
  ~Engine();

  // Stops writes and background work, writes the log's end mark and frees the lock. Idempotent: later calls answer what the first did.
  absl::Status Close();

  // FailedPrecondition when closed, read-only, poisoned, or called in a fork of the process that opened it; the background error while
  // one lasts that refuses writes.
  // The write is admitted all the same if it frees space, where it is space that is missing; then the reserve is released for it.
  using FreesSpace = std::function<bool()>;  // asked only where it matters
  absl::Status CheckWritable(const FreesSpace& frees_space = nullptr);
  // The same but for the background error: for what makes room.
  absl::Status CheckChangeable() const;
  // FailedPrecondition in a forked child: it shares the lock and the files' offsets with its parent.
  absl::Status CheckProcess() const;
  absl::Status CheckOpen() const;
  // Waits until no memtable but the active ones, which are empty or hold what was committed meanwhile, is in memory.
  absl::Status DrainMemtables();
  // Waits for its turn when background work is behind; `bytes` are about to be written.
  absl::Status AwaitTurn(uint64_t bytes, const WriteOptions& options, const FreesSpace& frees_space = nullptr);
  // A call that frees space, on a full disk once more with the reserve released. Not refused while writes are.
  absl::Status RunFreeing(const std::function<absl::Status()>& call);
  // Releases the reserve. True if that gave room just now.
  bool MakeRoom();
  // Takes the space for the reserve again if there is room. True if it was released and is back.
  bool RestoreReserve();
  // Files went: what failed for want of space may be tried at once.
  void NoteFreedSpace();
  // The disk has room for little more than what flushes may need.
  bool SpaceIsScarce() const;
  WritePressure Pressure() const;

  ReadPoint TakeReadPoint() { return state.TakeReadPoint(clock.Now()); }
  uint64_t NewFileNumber() { return next_file_number.fetch_add(1, std::memory_order_relaxed); }

  // Const after Open.
  const std::string directory;
  const EngineOptions options;
  // Of all in `directory`, wherever that is renamed to (FileSystem::Hold). What is elsewhere is options.file_system's.
  const std::shared_ptr<FileSystem> held_directory;  // null: options.file_system serves
  FileSystem* const file_system;
  uint64_t database_id = 0;
  uint64_t discarded_log_bytes = 0;  // by the recovery

  std::atomic<uint64_t> next_file_number{1};  // relaxed: only distinctness matters
  const std::shared_ptr<std::atomic<bool>> closed;
  Events events;
  DatabaseClock clock;
  MemoryBudget memory;
  BlockCache cache;
  SstableFiles files;
  PinnedViews pins;
  EngineState state;
  RowLatches latches;
  WriteThrottle throttle;
  OpenLoads loads;
  LargeWrites large_writes;
  SpaceReserve reserve;
  std::unique_ptr<FileLock> lock;         // null for "mem:" and once closed
  std::unique_ptr<ManifestLog> manifest;  // null when read-only
  std::unique_ptr<CommitLog> log;         // null when read-only
  std::unique_ptr<Committer> committer;
  std::unique_ptr<Installer> installer;    // null when read-only
  std::unique_ptr<Background> background;  // null when read-only
  std::unique_ptr<AheadPool> ahead;        // null where it could not help, and without background threads

 private:
  Engine(std::string directory, EngineOptions options, std::shared_ptr<FileSystem> held_directory);
  absl::Status Refusal();         // why writes are refused that free no space
  absl::Status StepUntilEased();  // AwaitTurn without threads
  absl::Status CloseOnce();
  absl::Status AbandonInFork();

  const pid_t pid_;  // of the process that opened it
  Mutex close_mutex_;
  bool close_done_ ABSL_GUARDED_BY(close_mutex_) = false;
  absl::Status close_status_ ABSL_GUARDED_BY(close_mutex_);
};

}  // namespace stele::internal
