// io/file_pool.h: limits the number of open read-only files. A file that was not read recently is
// closed when another must be opened, and is opened again by name when it is read.
//
// Used by:   io/posix_file_system.cc (OpenMode::kReadByName). There is one pool for the process,
//            since the limit is one of the process.
// Rule:      a file is closed only while it has no readers, so reading threads may exceed the limit
//            by one file each. The file to close is selected by the clock algorithm: a file that
//            was read since the hand passed it is skipped once.
// Errors:    if reopening fails, the read returns that error, and the next read tries again. A file
//            that no longer exists is DataLoss.
// Cost:      a read of an open file increments and decrements one atomic counter and takes no lock.
// Threads:   thread-safe; the pool must outlive its files.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "io/file_system.h"

namespace stele::internal {

class FilePool {
 public:
  // Opens the file for reading. Called each time it must be opened.
  using Opener = std::function<absl::StatusOr<std::unique_ptr<File>>()>;

  // `open_max` is called whenever a file must be opened.
  explicit FilePool(std::function<size_t()> open_max) : open_max_(std::move(open_max)) {}
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  // Returns an open file, which cannot be written to.
  absl::StatusOr<std::unique_ptr<File>> Open(Opener opener);
  // Closes a file, so that another can be opened. Returns false if no file is open, or all open
  // files are being read.
  bool CloseOne();
  // The current number, including files that are being opened.
  size_t open_count() const;

  // Called around a fork: otherwise another thread could hold the lock, and would never release it
  // in the child.
  void LockForFork() ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex_) { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_UNLOCK_FUNCTION(mutex_) { mutex_.Unlock(); }

 private:
  class PooledFile;

  // Makes room for a file and counts it as open.
  void Reserve();
  void GiveUpReserved();
  void Enter(const PooledFile* file, std::unique_ptr<File> opened);
  void Leave(const PooledFile* file);
  std::unique_ptr<File> TakeVictim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<size_t()> open_max_;
  mutable Mutex mutex_;
  size_t open_count_ ABSL_GUARDED_BY(mutex_) = 0;  // files in the ring, and reserved places
  std::list<const PooledFile*> ring_ ABSL_GUARDED_BY(mutex_);
  std::list<const PooledFile*>::iterator hand_ ABSL_GUARDED_BY(mutex_) = ring_.end();
};

}  // namespace stele::internal
