#include "support/io_observed_file_system.h"

#include "base/status.h"

namespace stele::internal {

class ObservedFileSystem::ObservedFile final : public File {
 public:
  ObservedFile(ObservedFileSystem* files, std::unique_ptr<File> file)
      : observer_(files->observer_),
        bytes_read_(files->bytes_read_),
        started_reads_(files->started_reads_),
        file_(std::move(file)) {}
  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    STELE_ASSIGN_OR_RETURN(const size_t got, file_->Read(offset, bytes, out));
    bytes_read_.fetch_add(got, std::memory_order_relaxed);
    observer_(CallKind::kRead, path());
    return got;
  }
  void StartRead(uint64_t offset, uint64_t bytes) const override {
    started_reads_.fetch_add(1, std::memory_order_relaxed);
    file_->StartRead(offset, bytes);
  }
  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    return file_->Write(offset, bytes);
  }
  absl::Status Sync() override {
    STELE_RETURN_IF_ERROR(file_->Sync());
    observer_(CallKind::kSync, path());
    return absl::OkStatus();
  }
  absl::Status Truncate(uint64_t bytes) override { return file_->Truncate(bytes); }
  absl::Status Allocate(uint64_t bytes) override { return file_->Allocate(bytes); }
  absl::StatusOr<uint64_t> Size() const override { return file_->Size(); }
  const std::string& path() const override { return file_->path(); }

 private:
  const Observer& observer_;
  std::atomic<uint64_t>& bytes_read_;
  std::atomic<uint64_t>& started_reads_;
  const std::unique_ptr<File> file_;
};

absl::StatusOr<std::unique_ptr<File>> ObservedFileSystem::Open(const std::string& path,
                                                               OpenMode mode) {
  if (mode != OpenMode::kReadByName || open_max_ == 0) return OpenNow(path, mode);
  return pool_.Open([this, path, mode] { return OpenNow(path, mode); });
}

absl::StatusOr<std::unique_ptr<File>> ObservedFileSystem::OpenNow(const std::string& path,
                                                                  OpenMode mode) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, below_->Open(path, mode));
  if (mode == OpenMode::kCreate) observer_(CallKind::kCreate, path);
  return std::make_unique<ObservedFile>(this, std::move(file));
}

absl::Status ObservedFileSystem::Rename(const std::string& from, const std::string& to) {
  STELE_RETURN_IF_ERROR(below_->Rename(from, to));
  observer_(CallKind::kRename, from);
  return absl::OkStatus();
}

absl::Status ObservedFileSystem::SyncDirectory(const std::string& directory) {
  STELE_RETURN_IF_ERROR(below_->SyncDirectory(directory));
  observer_(CallKind::kSyncDirectory, directory);
  return absl::OkStatus();
}

}  // namespace stele::internal
