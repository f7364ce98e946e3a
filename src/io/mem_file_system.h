// io/mem_file_system.h: a file system in memory, for databases without a disk ("mem:").
//
// Used by:   db/local_database.cc, for the location "mem:". Tests of crashes and faults use another
//            one (tests/support/crash_fs/crash_file_system.h).
// Format:    paths as in io/mem_tree.h; the root directory always exists.
// Errors:    like the operating system's; refused memory is ResourceExhausted. A file has at most
//            64 GiB.
// Threads:   as documented for FileSystem and File. Every file has a separate lock, so files do not
//            wait for each other. A File may outlive the file system.
// Cost:      a call copies the bytes and takes an uncontended lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "io/file_system.h"
#include "io/lock_table.h"
#include "io/mem_tree.h"

namespace stele::internal {

class MemFileSystem final : public FileSystem {
 public:
  MemFileSystem();
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status Link(const std::string& from, const std::string& to) override;
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::Status CreateDirectory(const std::string& directory) override;
  absl::Status RemoveDirectory(const std::string& directory) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& /*directory*/) override {
    return UINT64_MAX;
  }
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                 std::string_view holder) override;

 private:
  // Outlives the file system as long as a lock or a file exists.
  struct Shared {
    Mutex mutex;
    MemTree tree ABSL_GUARDED_BY(mutex);
    LockTable locks ABSL_GUARDED_BY(mutex);
    explicit Shared(MemNodePointer root) : tree(std::move(root)) {}
  };
  class HeldLock;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace stele::internal
