// tests/support/io_observed_file_system.h: a file system that calls an observer after each call
// that succeeded. Tests use it to crash, write or drop rows between two calls. It also counts bytes
// read, and limits the number of open files.
//
// Threads:   As the file system below it. The observer runs on the thread that made the call. It
//            may use the file system.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_pool.h"
#include "io/file_system.h"
#include "support/crash_fs/crash_policy.h"

namespace stele::internal {

class ObservedFileSystem final : public FileSystem {
 public:
  // Called after each successful kCreate, kRead, kSync, kSyncDirectory and kRename (with the old
  // path).
  using Observer = std::function<void(CallKind kind, const std::string& path)>;
  // At most `open_max` files of kReadByName are open at a time; 0: no limit.
  ObservedFileSystem(FileSystem* below, Observer observer, size_t open_max = 0)
      : below_(below), observer_(std::move(observer)), open_max_(open_max) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override { return below_->Remove(path); }
  absl::Status Link(const std::string& from, const std::string& to) override {
    return below_->Link(from, to);
  }
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::Status CreateDirectory(const std::string& directory) override {
    return below_->CreateDirectory(directory);
  }
  absl::Status RemoveDirectory(const std::string& directory) override {
    return below_->RemoveDirectory(directory);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return below_->List(directory);
  }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return below_->Stat(path); }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override {
    return below_->FreeBytes(directory);
  }
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                 std::string_view holder) override {
    return below_->Lock(path, mode, holder);
  }

  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  // The number of calls of File::StartRead.
  uint64_t started_reads() const { return started_reads_.load(std::memory_order_relaxed); }

 private:
  class ObservedFile;

  absl::StatusOr<std::unique_ptr<File>> OpenNow(const std::string& path, OpenMode mode);

  FileSystem* const below_;
  const Observer observer_;
  const size_t open_max_;
  FilePool pool_{[this] { return open_max_; }};
  std::atomic<uint64_t> bytes_read_{0};
  std::atomic<uint64_t> started_reads_{0};
};

}  // namespace stele::internal
