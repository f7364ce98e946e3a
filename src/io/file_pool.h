// io/file_pool.h: files that are only read, of which no more than so many are open at a time: one not read lately is closed when another is
// wanted, and opened again by name when it is read.
//
// Path:      io/posix_file_system.cc (OpenMode::kReadByName), with one pool for the process, as its limit is -> here.
// Rule:      a file is closed only while nobody reads it, so the bound may be passed by as many files as threads read at that moment. Among
//            the others the choice is the clock's: whoever was read again since the hand came by is spared once.
// Errors:    what opening again answers is that read's answer, and the next read tries again; a file that is gone is DataLoss.
// Cost:      a read of an open file counts itself in and out, in one atomic, and takes no lock.
// Threads:   thread-safe; the pool outlives its files.
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
  // Opens the file, each time anew, for reading.
  using Opener = std::function<absl::StatusOr<std::unique_ptr<File>>()>;

  // `open_max` is asked whenever a file is to be opened.
  explicit FilePool(std::function<size_t()> open_max) : open_max_(std::move(open_max)) {}
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  // The file is open when this answers it; it cannot be written to.
  absl::StatusOr<std::unique_ptr<File>> Open(Opener opener);
  // Closes a file, so that something else can be opened. False: none is open, or all that are are being read.
  bool CloseOne();
  // Now, with those that are just being opened.
  size_t open_count() const;

  // Around a fork: another thread may hold the lock just then, and would never give it back in the child.
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
  size_t open_count_ ABSL_GUARDED_BY(mutex_) = 0;  // those in the ring, and reserved places
  std::list<const PooledFile*> ring_ ABSL_GUARDED_BY(mutex_);
  std::list<const PooledFile*>::iterator hand_ ABSL_GUARDED_BY(mutex_) = ring_.end();
};

}  // namespace stele::internal
