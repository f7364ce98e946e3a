// io/file_system.h: the interface for all file operations. Tests use it to simulate crashes, full
// disks and failing calls.
//
// Used by:   all code that accesses files: wal, sstable, manifest, trace, db, admin. Derived
//            classes: the one in io/posix_file_system.cc, and io/mem_file_system.h.
// Errors:    a failed call returns a Status that names the call and the path (base/status.h
//            ErrnoStatus). EINTR and short transfers are retried inside, so a Write is complete or
//            failed, and a Read is short only at the end of the file.
// Durability: a file's bytes survive a power failure after Sync() of the file; its name after
//            SyncDirectory() of its directory. Nothing else is assumed: unsynced writes may be
//            kept, lost, torn at any 512-byte boundary, and reordered across files.
// Threads:   FileSystem is thread-safe. Read of a File may run concurrently with any call. Write,
//            Truncate and Sync of one file are for one thread at a time. But Sync may run
//            concurrently with Write: it covers at least the bytes that were written before it
//            began.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal {

class File {
 public:
  // Closes the file. An error of closing is lost, so sync first what must be durable.
  virtual ~File() = default;
  // Reads up to `bytes` bytes at `offset` into `out`. Returns the number of bytes read, which is
  // less only at the end of the file.
  virtual absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const = 0;
  // A hint: starts to read the bytes into the operating system's cache, and does not wait. Does
  // nothing if the first byte is there already, or if the system does not support it.
  virtual void StartRead(uint64_t /*offset*/, uint64_t /*bytes*/) const {}
  // Writes all of `bytes` at `offset`. The file grows as needed; a gap reads as zeros.
  virtual absl::Status Write(uint64_t offset, std::string_view bytes) = 0;
  // When this returns OK, the file's bytes and size survive a power failure.
  virtual absl::Status Sync() = 0;
  // Sets the size. Truncated bytes are lost; added bytes read as zeros.
  virtual absl::Status Truncate(uint64_t bytes) = 0;
  // Reserves space, so that writes below `bytes` cannot fail for lack of space. The size grows to
  // `bytes`; new bytes read as zeros.
  virtual absl::Status Allocate(uint64_t bytes) = 0;
  virtual absl::StatusOr<uint64_t> Size() const = 0;
  virtual const std::string& path() const = 0;
};

// A held lock. It is released when this object is destroyed.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class OpenMode {
  kRead,  // must exist and be a regular file
  // Like kRead, for a file whose name and bytes never change: it may be closed between reads and
  // reopened for the next one.
  kReadByName,
  kReadWrite,      // must exist and be a regular file; it is not truncated
  kCreate,         // must not exist
  kCreatePrivate,  // must not exist; only the owner of the process may read and write it
};
enum class LockMode { kShared, kExclusive };
enum class FileKind { kFile, kDirectory, kOther };

struct FileInfo {
  FileKind kind = FileKind::kFile;
  uint64_t bytes = 0;
  uint64_t links = 1;  // hard links; above 1, another directory may contain the same file
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Returns the same file system, but `directory` and all paths in it refer to the present
  // directory, even after it is renamed and another directory has its name. Only the second path of
  // Link is not affected. Returns null if no other process can rename the directory: then this file
  // system can be used.
  virtual absl::StatusOr<std::unique_ptr<FileSystem>> PinDirectory(
      const std::string& /*directory*/) {
    return nullptr;
  }
  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  // Replaces `to` atomically if it exists.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // Creates a second name for the same file. Returns Unimplemented or Unavailable if the file
  // system cannot do it (the caller copies then).
  virtual absl::Status Link(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames, links and removals in `directory` survive a power failure.
  virtual absl::Status SyncDirectory(const std::string& directory) = 0;
  // Creates one level. Returns AlreadyExists if it exists.
  virtual absl::Status CreateDirectory(const std::string& directory) = 0;
  virtual absl::Status RemoveDirectory(const std::string& directory) = 0;
  // Returns the names (not paths) in `directory`, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  // Does not follow a symbolic link (kind kOther).
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // The number of bytes that this process may still write in the file system of `directory`;
  // UINT64_MAX if there is no limit or it is unknown.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) = 0;
  // Locks `path` for this open file, against this process and others. Creates the file if it is
  // missing. kExclusive writes `holder` into the file; kShared does not change an existing file.
  // Returns FailedPrecondition if the lock is held. The message has the text of the exclusive
  // holder, or names the processes with shared locks if they are known. The operating system's
  // implementation also locks the directory, so that removing `path` does not let another process
  // in.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                         std::string_view holder) = 0;
};

// The operating system's file system. One for the process; never destroyed.
FileSystem* PosixFileSystem();

}  // namespace stele::internal
