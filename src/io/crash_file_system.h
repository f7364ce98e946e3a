// io/crash_file_system.h: a file system in memory that can lose power, kill its process, fill up and fail any call.
//
// Path:      crash, fault and disk-full tests of every room -> here -> crash_image (what a crash leaves), crash_faults (what fails).
// How:       it remembers what was synced and, in order, everything done since. Crash() makes a new file system as it might look after the
//            crash; the old one goes on, so images can be taken at any time and as many as wanted. Calls that change something are
//            numbered from 1, so a test runs a workload once to count them and then once per call with SetCrashAtCall.
// Names:     a creation, link or removal survives power loss after SyncDirectory of its directory, a rename after that of the directory
//            it moved to. Syncing a file does not save its name.
// Errors:    as the operating system's; Unavailable "crashed" from the crash call on, after which nothing changes any more.
// Threads:   thread-safe; one lock. Files and locks must be destroyed before the file system.
// Cost:      Crash(): pointers to 4 KiB chunks and the unsynced bytes; tens of microseconds for a database of some 100 KB.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "io/crash_faults.h"
#include "io/crash_node.h"
#include "io/crash_policy.h"
#include "io/file_system.h"
#include "io/lock_table.h"
#include "io/mem_tree.h"

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
  // By SetCapacity. Not counted among the reads.
  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode, std::string_view holder) override;

  // What a crash now may leave; the same seed gives the same image. Everything in it is synced, nothing locked, no fault planned.
  std::unique_ptr<CrashFileSystem> Crash(const CrashPolicy& policy, uint64_t seed) const;

  // Calls that changed something (or tried to) and calls that did not, so far.
  uint64_t calls() const;
  uint64_t reads() const;
  // The call with this number and all after it, reads too, answer Unavailable("crashed") and do nothing. 0: never.
  void SetCrashAtCall(uint64_t call);
  bool crashed() const;

  // Fails the call (the read) with this number; with Fault::sticky all from it on.
  void FailCall(uint64_t call, Fault fault);
  void FailRead(uint64_t read, Fault fault);
  // Fails the nth call of this kind from now; 1 is the next.
  void FailKind(CallKind kind, uint64_t nth, Fault fault);
  void ClearFaults();
  void SetFailedSync(FailedSync mode);

  // Sizes of all files together; growth beyond the capacity answers ENOSPC, after a Write has filled what was left.
  void SetCapacity(uint64_t bytes);
  uint64_t used_bytes() const;

  // For tests, past counting, faults, capacity and the crash. What they change is on disk at once.
  absl::StatusOr<std::string> ReadFile(const std::string& path) const;
  absl::Status WriteFile(const std::string& path, std::string_view bytes);
  absl::Status FlipBit(const std::string& path, uint64_t offset, int bit);

 private:
  class OpenFile;
  class HeldLock;

  explicit CrashFileSystem(CrashNodePointer root);

  // Counts a call; an error when it is to fail. `verdict` (may be nullptr) tells how much of it is to be done all the same.
  absl::Status Begin(CallKind kind, std::string_view call, const std::string& path, CrashFaults::Verdict* verdict = nullptr)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteLocked(CrashNode& file, const std::string& path, uint64_t offset, std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ResizeLocked(CrashNode& file, std::string_view call, const std::string& path, uint64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncLocked(CrashNode& file, const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // As many of the bytes as there is room for; answers an errno, ENOSPC when not all.
  int StoreWithinCapacity(CrashNode& file, uint64_t offset, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RecordWrite(CrashNode& file, uint64_t offset, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ChangeEntries(std::vector<EntryChange> changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes pending operations on names certain: those of `directory` (with `name` empty), or of one name in it, and what they depend on.
  void SaveEntries(const MemNodePointer& directory, std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Close(const CrashNodePointer& file);
  void FreeIfUnreachable(CrashNode& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RememberRemoved(CrashNode& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  MemTree tree_ ABSL_GUARDED_BY(mutex_);
  LockTable locks_ ABSL_GUARDED_BY(mutex_);
  mutable CrashFaults faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<PendingEntries> pending_entries_ ABSL_GUARDED_BY(mutex_);
  mutable std::deque<ChunkedBytes> removed_ ABSL_GUARDED_BY(mutex_);  // of the last few files removed; Crash only shares their chunks
  FailedSync failed_sync_ ABSL_GUARDED_BY(mutex_) = FailedSync::kCleanNew;
  uint64_t capacity_bytes_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stele::internal
