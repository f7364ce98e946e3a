// db/installer.h: the one way the Version changes: log first, then the manifest, then the view, then what became obsolete.
//
// Path:      flush and compaction jobs, schema changes, excision -> Install -> manifest, engine state, SSTable files, log.
// Rules:     no edit becomes durable before the log is durable through it (engine rule 3); files go only after the edit that drops them is
//            durable (22); segments are reused only after the manifest says that older ones are not needed (18).
// Errors:    a failed sync of the log or any failure of the manifest poisons (20).
// Threads:   thread-safe; one install at a time. I/O happens under its own mutex, never under the database's.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "db/committer.h"
#include "db/database_clock.h"
#include "db/engine_state.h"
#include "db/sstable_files.h"
#include "manifest/manifest_log.h"
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
    std::atomic<uint64_t>* next_file_number = nullptr;
  };
  explicit Installer(Parts parts) : parts_(parts) {}

  // `make` gets the current Version and answers the edit, or an error that is handed back and changes nothing. It need not fill in the
  // clock mark, file numbers or segments.
  using MakeEdit = std::function<absl::StatusOr<Edit>(const Version& version)>;
  absl::Status Install(const MakeEdit& make, std::optional<EngineState::Flushed> flushed = std::nullopt);

  // Runs `section`; every later Install returns FailedPrecondition.
  absl::Status Close(const std::function<absl::Status()>& section) {
    MutexLock lock(mutex_);
    closed_ = true;
    return section();
  }

  // Runs `section` with no install beside it.
  absl::Status Pause(const std::function<absl::Status()>& section) {
    MutexLock lock(mutex_);
    return section();
  }

  // Bytes that compaction is behind in the current Version; a moment old.
  uint64_t debt_bytes() const { return debt_bytes_.load(std::memory_order_relaxed); }
  // Counts them again: at open, and when a tablet turned out to be damaged.
  void CountDebt();

 private:
  void CountDebtOf(const Version& version);
  void MarkObsolete(const Version& before, const Version& after);

  const Parts parts_;
  const pid_t pid_ = ::getpid();  // of the process that opened the database
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> debt_bytes_{0};
};

}  // namespace stele::internal
