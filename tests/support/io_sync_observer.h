// tests/support/io_sync_observer.h: a file system that tells when something became durable: after each sync of a file or a directory.
//
// Threads:   as the file system below it; the callback runs on the thread that synced.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace stele::internal {

class SyncObserver final : public FileSystem {
 public:
  SyncObserver(FileSystem* below, std::function<void()> on_sync) : below_(below), on_sync_(std::move(on_sync)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override { return below_->Rename(from, to); }
  absl::Status Remove(const std::string& path) override { return below_->Remove(path); }
  absl::Status Link(const std::string& from, const std::string& to) override { return below_->Link(from, to); }
  absl::Status SyncDirectory(const std::string& directory) override { return Told(below_->SyncDirectory(directory)); }
  absl::Status CreateDirectory(const std::string& directory) override { return below_->CreateDirectory(directory); }
  absl::Status RemoveDirectory(const std::string& directory) override { return below_->RemoveDirectory(directory); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override { return below_->List(directory); }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return below_->Stat(path); }
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode, std::string_view holder) override {
    return below_->Lock(path, mode, holder);
  }

 private:
  class ObservedFile;

  absl::Status Told(absl::Status status) const {
    if (status.ok()) on_sync_();
    return status;
  }

  FileSystem* const below_;
  const std::function<void()> on_sync_;
};

}  // namespace stele::internal
