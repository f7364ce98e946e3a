// io/lock_table.h: a table of the locked files of one process, or of one file system in memory, by
// file identity.
//
// Used by:   io/mem_file_system.cc and io/posix_lock.cc (FileSystem::Lock). The POSIX
//            implementation also locks with the operating system.
// Errors:    Acquire returns FailedPrecondition naming the path and, for an exclusive lock, its
//            holder's text.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "io/file_system.h"

namespace stele::internal {

// Identifies a file whatever path leads to it: (device, inode), or (node number, 0) in memory.
using FileIdentity = std::pair<uint64_t, uint64_t>;

class LockTable {
 public:
  absl::Status Acquire(const FileIdentity& file, LockMode mode, std::string_view path,
                       std::string_view holder);
  void Release(const FileIdentity& file);
  void Clear() { locks_.clear(); }

 private:
  struct Entry {
    LockMode mode;
    int holder_count = 0;  // more than one only for a shared lock
    std::string holder;
  };
  std::map<FileIdentity, Entry> locks_;
};

// The messages for held locks, the same in every implementation. `where` is "this process",
// "another process" or "other processes", with the process ids if they are known.
absl::Status LockedExclusively(std::string_view path, std::string_view where,
                               std::string_view holder);
absl::Status LockedShared(std::string_view path, std::string_view where);

}  // namespace stele::internal
