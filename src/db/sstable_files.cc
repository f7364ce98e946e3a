#include "db/sstable_files.h"

#include <set>
#include <utility>

#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {

class SstableFiles::Registry {
 public:
  FileSystem* file_system = nullptr;
  BlockCache* cache = nullptr;
  mutable Mutex mutex;
  std::map<uint64_t, std::weak_ptr<const Entry>> open ABSL_GUARDED_BY(mutex);  // by file number
  std::map<uint64_t, uint64_t> obsolete_bytes ABSL_GUARDED_BY(mutex);          // by file number: obsolete and still open
  bool removing ABSL_GUARDED_BY(mutex) = true;
};

class SstableFiles::Entry : public PinnedSstable {
 public:
  Entry(std::shared_ptr<Registry> registry, uint64_t number, std::string path)
      : registry_(std::move(registry)), number_(number), path_(std::move(path)) {}

  ~Entry() override {
    reader_.reset();
    bool remove = false;
    {
      MutexLock lock(registry_->mutex);
      remove = registry_->obsolete_bytes.erase(number_) > 0 && registry_->removing;
      const auto it = registry_->open.find(number_);
      if (it != registry_->open.end() && it->second.expired()) registry_->open.erase(it);
    }
    // A file that stays because this failed is removed by the next Open of the database.
    if (remove) registry_->file_system->Remove(path_).IgnoreError();
  }

  void OpenFile(const SstableFile& file) {
    absl::StatusOr<std::unique_ptr<File>> opened = registry_->file_system->Open(path_, OpenMode::kRead);
    if (!opened.ok()) {
      status_ = std::move(opened).status();
      return;
    }
    absl::StatusOr<std::shared_ptr<SstableReader>> reader =
        SstableReader::Open(*std::move(opened), SstableName(number_), &file.summary, registry_->cache);
    if (reader.ok()) {
      reader_ = *std::move(reader);
    } else {
      status_ = std::move(reader).status();
    }
  }

  const std::shared_ptr<SstableReader>& reader() const override { return reader_; }
  absl::Status open_status() const override { return status_; }

 private:
  const std::shared_ptr<Registry> registry_;
  const uint64_t number_;
  const std::string path_;
  std::shared_ptr<SstableReader> reader_;
  absl::Status status_;
};

SstableFiles::SstableFiles(FileSystem* file_system, std::string directory, BlockCache* cache)
    : directory_(std::move(directory)), registry_(std::make_shared<Registry>()) {
  registry_->file_system = file_system;
  registry_->cache = cache;
}

SstableFiles::~SstableFiles() = default;

std::shared_ptr<const PinnedSstable> SstableFiles::Open(const SstableFile& file) {
  {
    MutexLock lock(registry_->mutex);
    const auto it = registry_->open.find(file.number);
    if (it != registry_->open.end()) {
      if (std::shared_ptr<const Entry> entry = it->second.lock()) return entry;
    }
  }
  // Only the installer opens files, one at a time, so no one else opens this one meanwhile.
  auto entry = std::make_shared<Entry>(registry_, file.number, JoinPath(directory_, SstableName(file.number)));
  entry->OpenFile(file);
  MutexLock lock(registry_->mutex);
  registry_->open[file.number] = entry;
  return entry;
}

void SstableFiles::MarkObsolete(uint64_t number) {
  std::shared_ptr<const Entry> entry;  // let go after the lock: its end takes the lock
  MutexLock lock(registry_->mutex);
  const auto it = registry_->open.find(number);
  if (it == registry_->open.end()) return;
  entry = it->second.lock();
  if (entry == nullptr) return;
  registry_->obsolete_bytes[number] = entry->reader() == nullptr ? 0 : entry->reader()->summary().file_bytes;
}

void SstableFiles::StopRemoving() {
  MutexLock lock(registry_->mutex);
  registry_->removing = false;
}

uint64_t SstableFiles::pinned_bytes() const {
  MutexLock lock(registry_->mutex);
  uint64_t bytes = 0;
  for (const auto& [number, file_bytes] : registry_->obsolete_bytes) bytes += file_bytes;
  return bytes;
}

}  // namespace stele::internal
