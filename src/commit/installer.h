// commit/installer.h: installs edits: syncs the log, writes the manifest, switches the view, and
// removes obsolete files. Nothing else changes the Version.
//
// Used by:   jobs/job_runner.cc (flush, compaction), admin/table_admin.cc (schema changes, drops,
//            bulk loads).
// Calls:     wal/commit_log.h (Sync), manifest/manifest_log.h (Append), state/engine_state.h
//            (Install), views/sstable_files.h (MarkObsolete), and at the end wal/commit_log.h
//            (Release).
// Rules:     no edit becomes durable before the log is durable up to it (engine rule 3). Files are
//            removed only after the edit that drops them is durable (engine rule 22). A segment is
//            recycled only after the manifest states that it is no longer needed (engine rule 18).
// Errors:    a failed sync of the log poisons the database, and so does a failure that poisons the
//            manifest (engine rule 20). After any other error the Version is unchanged.
// Threads:   thread-safe; one install at a time. I/O happens under mutex_, never under
//            EngineState::mutex.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/process_id.h"
#include "commit/committer.h"
#include "compaction/compaction_debt.h"
#include "manifest/manifest_log.h"
#include "state/database_clock.h"
#include "state/database_directory.h"
#include "state/engine_state.h"
#include "views/sstable_files.h"
#include "wal/commit_log.h"

namespace stele::internal {

class Installer {
 public:
  struct Parts {
    EngineState* state = nullptr;
    Committer* committer = nullptr;
    CommitLog* log = nullptr;
    ManifestLog* manifest = nullptr;
    SstableFiles* files = nullptr;
    DatabaseClock* clock = nullptr;
    const DatabaseDirectory* directory = nullptr;
    CompactionSizes compaction = {};
  };
  explicit Installer(Parts parts) : parts_(parts), debt_(parts.compaction) {}

  // `make` gets the current Version and returns the edit, or an error that is returned without any
  // change. It need not set the clock mark, the next file number or the state of the log.
  using MakeEdit = std::function<absl::StatusOr<Edit>(const Version& version)>;
  // `flushed` has the memtables that the edit replaces by a file, or whose rows it drops. It is
  // read after the call of `make`, which may set it. `count` increases the counters of the job. It
  // is called once under mutex_, after the edit is durable and before a view shows it. So a thread
  // that waited for the result sees it counted. It is not called if Install fails. Empty: there is
  // nothing to count.
  absl::Status Install(const MakeEdit& make,
                       const std::optional<EngineState::Flushed>& flushed = std::nullopt,
                       const std::function<void()>& count = nullptr);

  // Calls `function`; every later Install returns FailedPrecondition.
  absl::Status Close(const std::function<absl::Status()>& function) {
    MutexLock lock(mutex_);
    closed_ = true;
    return function();
  }

  // Calls `function` while no install runs.
  absl::Status RunWithoutInstalls(const std::function<absl::Status()>& function) {
    MutexLock lock(mutex_);
    return function();
  }

  // The compaction debt of the current Version; may be slightly out of date.
  uint64_t debt_bytes() const { return debt_bytes_.load(std::memory_order_relaxed); }
  // Computes the debt of all tablets again: at open, and after a file of a tablet turned out to be
  // unreadable.
  void CountDebt();

 private:
  void MarkObsolete(const Version& before, const Version& after);

  const Parts parts_;
  const pid_t pid_ = ProcessId();  // of the process that opened the database
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  CompactionDebt debt_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> debt_bytes_{0};
};

}  // namespace stele::internal
