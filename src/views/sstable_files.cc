#include "views/sstable_files.h"

#include <atomic>
#include <utility>

#include "base/process_id.h"
#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {

class SstableFiles::Registry {
 public:
  FileSystem* file_system = nullptr;
  BlockCache* cache = nullptr;
  mutable Mutex mutex;
  std::map<uint64_t, std::weak_ptr<const Entry>> open ABSL_GUARDED_BY(mutex);  // by file number
  // By file number: obsolete and still open.
  std::map<uint64_t, uint64_t> obsolete_bytes ABSL_GUARDED_BY(mutex);
  bool removing ABSL_GUARDED_BY(mutex) = true;
  // A forked child removes no files, since its parent may be reading them.
  const pid_t pid = ProcessId();
};

class SstableFiles::Entry : public PinnedSstable {
 public:
  Entry(std::shared_ptr<Registry> registry, const SstableFile& file, std::string path)
      : registry_(std::move(registry)),
        number_(file.number),
        summary_(file.summary),
        path_(std::move(path)) {}

  ~Entry() override {
    reader_.reset();
    bool remove = false;
    {
      MutexLock lock(registry_->mutex);
      remove = registry_->obsolete_bytes.erase(number_) > 0 && registry_->removing;
      const auto it = registry_->open.find(number_);
      if (it != registry_->open.end() && it->second.expired()) registry_->open.erase(it);
    }
    // If the removal fails, the next Open of the database removes the file.
    if (remove && ProcessId() == registry_->pid)
      registry_->file_system->Remove(path_).IgnoreError();
  }

  const std::shared_ptr<SstableReader>& reader() const override {
    if (is_open_.load(std::memory_order_acquire)) return reader_;
    return TryToOpen() ? reader_ : none_;
  }
  absl::Status open_status() const override {
    MutexLock lock(mutex_);
    return status_;
  }
  uint64_t file_bytes() const { return summary_.file_bytes; }

 private:
  // Corruption is permanent; other errors (no file descriptor, an I/O error) may be transient.
  bool TryToOpen() const {
    MutexLock lock(mutex_);
    if (is_open_.load(std::memory_order_relaxed)) return true;
    if (status_.code() == absl::StatusCode::kDataLoss) return false;
    absl::StatusOr<std::shared_ptr<SstableReader>> reader = OpenFile();
    if (!reader.ok()) {
      status_ = std::move(reader).status();
      return false;
    }
    reader_ = *std::move(reader);
    is_open_.store(true, std::memory_order_release);
    return true;
  }

  absl::StatusOr<std::shared_ptr<SstableReader>> OpenFile() const {
    absl::StatusOr<std::unique_ptr<File>> file =
        registry_->file_system->Open(path_, OpenMode::kReadByName);
    if (absl::IsNotFound(file.status()))
      return DataLoss(SstableName(number_), 0, "the file is missing; restore it from a copy");
    if (!file.ok()) return std::move(file).status();
    return SstableReader::Open(*std::move(file), SstableName(number_), &summary_, registry_->cache);
  }

  const std::shared_ptr<Registry> registry_;
  const uint64_t number_;
  const SstableSummary summary_;
  const std::string path_;
  const std::shared_ptr<SstableReader> none_;
  mutable Mutex mutex_;
  // Written once, under mutex_, before is_open_ is set.
  mutable std::shared_ptr<SstableReader> reader_;
  // Stored with release. A thread that acquires it may read reader_.
  mutable std::atomic<bool> is_open_{false};
  // The last failure. It is kept when a later attempt succeeds, so that a caller that got no reader
  // can find out why.
  mutable absl::Status status_ ABSL_GUARDED_BY(mutex_);
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
  // Only the installer opens files, one at a time, so no other thread opens this one meanwhile.
  auto entry =
      std::make_shared<Entry>(registry_, file, JoinPath(directory_, SstableName(file.number)));
  entry->reader();
  MutexLock lock(registry_->mutex);
  registry_->open[file.number] = entry;
  return entry;
}

void SstableFiles::MarkObsolete(uint64_t number) {
  // Destroyed after the lock is released, since its destructor takes the lock.
  std::shared_ptr<const Entry> entry;
  MutexLock lock(registry_->mutex);
  const auto it = registry_->open.find(number);
  if (it == registry_->open.end()) return;
  entry = it->second.lock();
  if (entry == nullptr) return;
  registry_->obsolete_bytes[number] = entry->file_bytes();
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
