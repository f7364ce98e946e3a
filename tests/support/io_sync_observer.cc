#include "support/io_sync_observer.h"

#include "base/status.h"

namespace stele::internal {

class SyncObserver::ObservedFile final : public File {
 public:
  ObservedFile(const SyncObserver* observer, std::unique_ptr<File> file) : observer_(observer), file_(std::move(file)) {}
  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override { return file_->Read(offset, bytes, out); }
  absl::Status Write(uint64_t offset, std::string_view bytes) override { return file_->Write(offset, bytes); }
  absl::Status Sync() override { return observer_->Told(file_->Sync()); }
  absl::Status Truncate(uint64_t bytes) override { return file_->Truncate(bytes); }
  absl::Status Allocate(uint64_t bytes) override { return file_->Allocate(bytes); }
  absl::StatusOr<uint64_t> Size() const override { return file_->Size(); }
  const std::string& path() const override { return file_->path(); }

 private:
  const SyncObserver* const observer_;
  const std::unique_ptr<File> file_;
};

absl::StatusOr<std::unique_ptr<File>> SyncObserver::Open(const std::string& path, OpenMode mode) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, below_->Open(path, mode));
  return std::make_unique<ObservedFile>(this, std::move(file));
}

}  // namespace stele::internal
