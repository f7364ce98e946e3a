// io/lock_table.h: which files are locked, by identity, inside one process or one file system in memory.
//
// Path:      FileSystem::Lock of every implementation -> here; POSIX asks the operating system as well.
// Errors:    Acquire answers FailedPrecondition naming the path and, behind an exclusive lock, what its holder wrote.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "io/file_system.h"

namespace stele::internal {

// Tells files apart whatever path leads to them: (device, inode), or (node number, 0) in memory.
using FileIdentity = std::pair<uint64_t, uint64_t>;

class LockTable {
 public:
  absl::Status Acquire(const FileIdentity& file, LockMode mode, std::string_view path, std::string_view holder);
  void Release(const FileIdentity& file);
  void Clear() { locks_.clear(); }

 private:
  struct Entry {
    LockMode mode;
    int holder_count = 0;  // more than one only when shared
    std::string holder;
  };
  std::map<FileIdentity, Entry> locks_;
};

// The refusals' texts, the same from every implementation. `where` is "this process" or "another process".
absl::Status LockedExclusively(std::string_view path, std::string_view where, std::string_view holder);
absl::Status LockedShared(std::string_view path, std::string_view where);

}  // namespace stele::internal
