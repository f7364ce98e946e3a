// io/file_system.h: all the file work Stele does, behind one interface, so that tests can crash it, fill it and break it call by call.
//
// Path:      wal, sstable, manifest, db (lock, checkpoint, obsolete files) -> here -> io/posix_file_system.cc or io/mem_file_system.cc.
// Errors:    every call answers a Status that names the call and the path (base/status.h ErrnoStatus); EINTR and short transfers are
//            retried inside, so a Write is whole or failed, and a Read is short only at the end of the file.
// Durability: a file's bytes survive power loss after Sync() of the file; its name after SyncDirectory() of its directory. Nothing else is
//            assumed: unsynced writes may be kept, lost, torn at any 512-byte boundary and reordered across files.
// Threads:   FileSystem is thread-safe. File: Read may run beside anything; Write/Truncate/Sync of one file from one thread at a time,
//            except that Sync may run beside Write (it covers at least what was written before it began).
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
  virtual ~File() = default;  // closes; an error then is lost: Sync first what must last
  // Up to `bytes` bytes at `offset` into `out`; the answer is how many (fewer only at the end of the file).
  virtual absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const = 0;
  // All of `bytes` at `offset`; the file grows as needed, a gap reads as zeros.
  virtual absl::Status Write(uint64_t offset, std::string_view bytes) = 0;
  // The file's bytes and size survive power loss when this answers OK.
  virtual absl::Status Sync() = 0;
  // Sets the size; what is cut is gone, what is added reads as zeros.
  virtual absl::Status Truncate(uint64_t bytes) = 0;
  // Reserves space so that writes below `bytes` cannot fail for want of it; the size grows to `bytes`, new bytes read as zeros.
  virtual absl::Status Allocate(uint64_t bytes) = 0;
  virtual absl::StatusOr<uint64_t> Size() const = 0;
  virtual const std::string& path() const = 0;
};

// Held until destroyed; the holder's text is what Lock was given.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class OpenMode {
  kRead,        // must exist, and be a regular file
  kReadByName,  // as kRead, of a file that keeps its name and its bytes: it may be closed between reads, and opened again for the next
  kReadWrite,   // must exist, and be a regular file; nothing is truncated
  kCreate,      // must not exist
};
enum class LockMode { kShared, kExclusive };
enum class FileKind { kFile, kDirectory, kOther };

struct FileInfo {
  FileKind kind = FileKind::kFile;
  uint64_t bytes = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The same, but that `directory` and all paths in it lead to the directory that is there now, also once it has another name and another
  // one stands in its place. Link's second path alone is taken as it is. Null where nobody else can rename: this one serves as well.
  virtual absl::StatusOr<std::unique_ptr<FileSystem>> Hold(const std::string& /*directory*/) { return nullptr; }
  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  // Replaces `to` atomically when it exists.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // A second name for the same file; Unimplemented or Unavailable where the file system cannot (the caller then copies).
  virtual absl::Status Link(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames, links and removals in `directory` survive power loss.
  virtual absl::Status SyncDirectory(const std::string& directory) = 0;
  // One level; AlreadyExists when it is there.
  virtual absl::Status CreateDirectory(const std::string& directory) = 0;
  virtual absl::Status RemoveDirectory(const std::string& directory) = 0;
  // Names (not paths) in `directory`, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  // Does not follow a symbolic link (kind kOther).
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Bytes that this process may still write in the file system of `directory`; UINT64_MAX where nothing limits them or nobody knows.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) = 0;
  // Locks `path` (created if missing unless mode is kShared and it exists) for this open file, in this and among other processes.
  // kExclusive writes `holder` into the file. Refused: FailedPrecondition whose text holds what the holder wrote (nothing when only
  // shared locks stand in the way). The operating system's locks the directory, too, so that removing `path` lets nobody in.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode, std::string_view holder) = 0;
};

// The operating system's. One for the process; lives forever.
FileSystem* PosixFileSystem();

}  // namespace stele::internal
