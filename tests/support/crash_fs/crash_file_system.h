// support/crash_fs/crash_file_system.h: a file system in memory for tests. It can simulate a power
// failure or a killed process, fill up, and fail any call.
//
// Used by:   the crash, fault and disk-full tests of every directory.
// Calls:     crash_fs/crash_image.h (the state after a crash), crash_fs/crash_faults.h (which calls
//            fail).
// How:       it remembers what was synced and, in order, all later changes. Crash() makes a new
//            file system in a state that is possible after a crash. The old one continues, so any
//            number of images can be taken at any time. Calls that change something are numbered
//            from 1, so a test runs a workload once to count them, and then once per call with
//            SetCrashAtCall.
// Names:     a creation, link or removal survives a power failure after SyncDirectory of its
//            directory; a rename after that of the target directory. Syncing a file does not make
//            its name durable.
// Errors:    like the operating system's; Unavailable "crashed" from the crashing call on, after
//            which nothing changes any more.
// Threads:   thread-safe; one lock. Files and locks must be destroyed before the file system.
// Cost:      Crash() copies pointers to 4 KiB chunks and the unsynced bytes: tens of microseconds
//            for a database of some 100 KB.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "io/file_system.h"
#include "io/lock_table.h"
#include "io/mem_tree.h"
#include "support/crash_fs/crash_faults.h"
#include "support/crash_fs/crash_node.h"
#include "support/crash_fs/crash_policy.h"

namespace stele::internal {

class CrashFileSystem final : public FileSystem {
 public:
  CrashFileSystem();
  ~CrashFileSystem() override;

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status Link(const std::string& from, const std::string& to) override;
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::Status CreateDirectory(const std::string& directory) override;
  absl::Status RemoveDirectory(const std::string& directory) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  // Depends on SetCapacity. Not counted as a read.
  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                 std::string_view holder) override;

  // Returns a state that is possible after a crash now; the same seed gives the same state. In it
  // everything is synced, nothing is locked and no fault is planned.
  std::unique_ptr<CrashFileSystem> Crash(const CrashPolicy& policy, uint64_t seed) const;

  // The number of calls so far that changed something (or tried to), and of the others.
  uint64_t calls() const;
  uint64_t reads() const;
  // The call with this number and all later ones, reads included, do nothing and return
  // Unavailable("crashed"). 0: never.
  void SetCrashAtCall(uint64_t call);
  bool crashed() const;

  // Fails the call (the read) with this number; with Fault::sticky also all later ones.
  void FailCall(uint64_t call, Fault fault);
  void FailRead(uint64_t read, Fault fault);
  // Fails the nth call of this kind from now; 1 is the next.
  void FailKind(CallKind kind, uint64_t nth, Fault fault);
  void ClearFaults();
  void SetFailedSync(FailedSync mode);

  // Limits the total size of all files. Growth beyond it fails with ENOSPC; a Write first fills the
  // remaining space.
  void SetCapacity(uint64_t bytes);
  // The same, but FreeBytes does not know the limit, as for the quota of a user.
  void SetQuota(uint64_t bytes);
  // Limits the size of each file, as `ulimit -f` does. Growth beyond it fails with EFBIG.
  void SetFileBytesMax(uint64_t bytes);
  uint64_t used_bytes() const;

  // For tests. These ignore counting, faults, capacity and the crash. Their changes are durable at
  // once.
  absl::StatusOr<std::string> ReadFile(const std::string& path) const;
  absl::Status WriteFile(const std::string& path, std::string_view bytes);
  absl::Status FlipBit(const std::string& path, uint64_t offset, int bit);

 private:
  class OpenFile;
  class HeldLock;

  explicit CrashFileSystem(CrashNodePointer root);

  // Counts a call and returns an error if it must fail. `outcome` (may be nullptr) receives the
  // part of the call that is done before it fails.
  absl::Status Begin(CallKind kind, std::string_view call, const std::string& path,
                     CrashFaults::Outcome* outcome = nullptr) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteLocked(CrashNode& file, const std::string& path, uint64_t offset,
                           std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ResizeLocked(CrashNode& file, std::string_view call, const std::string& path,
                            uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncLocked(CrashNode& file, const std::string& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes as many of the bytes as fit. Returns an errno: ENOSPC or EFBIG if not all fit.
  int StoreWithinCapacity(CrashNode& file, uint64_t offset, std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RecordWrite(CrashNode& file, uint64_t offset, std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ChangeEntries(std::vector<EntryChange> changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes pending operations on names durable: those in `directory` (if `name` is empty), or those
  // on one name in it, and the operations that they depend on.
  void SaveEntries(const MemNodePointer& directory, std::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Close(const CrashNodePointer& file);
  void FreeIfUnreachable(CrashNode& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RememberRemoved(CrashNode& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  MemTree tree_ ABSL_GUARDED_BY(mutex_);
  LockTable locks_ ABSL_GUARDED_BY(mutex_);
  mutable CrashFaults faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<PendingEntries> pending_entries_ ABSL_GUARDED_BY(mutex_);
  // For the last few removed files; Crash only shares their chunks.
  mutable std::deque<ChunkedBytes> removed_ ABSL_GUARDED_BY(mutex_);
  FailedSync failed_sync_ ABSL_GUARDED_BY(mutex_) = FailedSync::kCleanNew;
  uint64_t capacity_bytes_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  bool hides_capacity_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t file_bytes_max_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stele::internal
