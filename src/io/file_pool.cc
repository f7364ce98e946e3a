#include "io/file_pool.h"

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace stele::internal {

class FilePool::PooledFile final : public File {
 public:
  PooledFile(FilePool* pool, Opener opener) : pool_(*pool), opener_(std::move(opener)) {}
  ~PooledFile() override { pool_.Leave(this); }

  // Opens the file for the first time.
  absl::Status Begin() {
    STELE_RETURN_IF_ERROR(TakeClosed());
    path_ = file_->path();
    Return();
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    if (!TakeOpen()) STELE_RETURN_IF_ERROR(TakeClosed());
    absl::StatusOr<size_t> got = file_->Read(offset, bytes, out);
    Return();
    return got;
  }
  // Does nothing if the pool has closed the file: a hint is not worth a call of open().
  void StartRead(uint64_t offset, uint64_t bytes) const override {
    if (!TakeOpen()) return;
    file_->StartRead(offset, bytes);
    Return();
  }
  absl::StatusOr<uint64_t> Size() const override {
    if (!TakeOpen()) STELE_RETURN_IF_ERROR(TakeClosed());
    absl::StatusOr<uint64_t> bytes = file_->Size();
    Return();
    return bytes;
  }
  absl::Status Write(uint64_t, std::string_view) override {
    return ErrnoStatus("write", path_, EBADF);
  }
  absl::Status Sync() override { return ErrnoStatus("fdatasync", path_, EBADF); }
  absl::Status Truncate(uint64_t) override { return ErrnoStatus("ftruncate", path_, EINVAL); }
  absl::Status Allocate(uint64_t) override { return ErrnoStatus("fallocate", path_, EBADF); }
  const std::string& path() const override { return path_; }

  // For the pool, under its mutex: the position in the ring while the file is open.
  mutable std::list<const PooledFile*>::iterator place;

  // For the pool, under its mutex. The thread that opened the file counts as its only reader. This
  // is not a use yet, so that files that are read only once are closed first.
  void SetOpen(std::unique_ptr<File> file) const {
    file_ = std::move(file);
    // Readers that failed may be counted for a moment.
    state_.fetch_add(kOpen + 1, std::memory_order_release);
  }
  bool is_open() const { return (state_.load(std::memory_order_relaxed) & kOpen) != 0; }
  // For the pool, under its mutex. Returns the file if it is open, has no readers and was not used
  // recently. Otherwise returns null, and marks the file as not recently used.
  std::unique_ptr<File> TryToClose() const {
    const uint64_t state = state_.load(std::memory_order_relaxed);
    if ((state & kUsed) != 0) {
      state_.fetch_and(~kUsed, std::memory_order_relaxed);
      return nullptr;
    }
    uint64_t at_rest = kOpen;
    // Acquires the effects of the readers' last accesses.
    if (!state_.compare_exchange_strong(at_rest, 0, std::memory_order_acquire,
                                        std::memory_order_relaxed))
      return nullptr;
    return std::move(file_);
  }

 private:
  static constexpr uint64_t kOpen = uint64_t{1} << 63;
  static constexpr uint64_t kUsed = uint64_t{1} << 62;  // recently; only while open

  // Returns true if the file is open; it stays open until Return.
  bool TakeOpen() const {
    const uint64_t before = state_.fetch_add(1, std::memory_order_acquire);
    if ((before & kOpen) == 0) {
      state_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    if ((before & kUsed) == 0) state_.fetch_or(kUsed, std::memory_order_relaxed);
    return true;
  }
  void Return() const { state_.fetch_sub(1, std::memory_order_release); }

  // Like TakeOpen, for a file that was closed. One of the threads that need it opens it; the others
  // wait.
  absl::Status TakeClosed() const {
    MutexLock lock(opening_);
    if (TakeOpen()) return absl::OkStatus();
    pool_.Reserve();
    absl::StatusOr<std::unique_ptr<File>> file = opener_();
    if (!file.ok()) {
      pool_.GiveUpReserved();
      if (path_.empty() || !absl::IsNotFound(file.status())) return std::move(file).status();
      return DataLoss(path_.substr(path_.rfind('/') + 1), 0,
                      "the file was removed while it was needed; restore it from a copy");
    }
    pool_.Enter(this, *std::move(file));
    return absl::OkStatus();
  }

  FilePool& pool_;
  const Opener opener_;
  std::string path_;  // set by Begin
  mutable Mutex opening_;
  // The number of readers, and kOpen and kUsed.
  mutable std::atomic<uint64_t> state_{0};
  // Changed under the pool's mutex: set before kOpen is set, taken after kOpen was cleared.
  mutable std::unique_ptr<File> file_;
};

absl::StatusOr<std::unique_ptr<File>> FilePool::Open(Opener opener) {
  auto file = std::make_unique<PooledFile>(this, std::move(opener));
  STELE_RETURN_IF_ERROR(file->Begin());
  return file;
}

bool FilePool::CloseOne() {
  std::unique_ptr<File> victim;  // closed after the lock is released
  MutexLock lock(mutex_);
  victim = TakeVictim();
  return victim != nullptr;
}

size_t FilePool::open_count() const {
  MutexLock lock(mutex_);
  return open_count_;
}

void FilePool::Reserve() {
  const size_t open_max = open_max_();
  std::vector<std::unique_ptr<File>> victims;  // closed after the lock is released
  MutexLock lock(mutex_);
  while (open_count_ >= open_max) {
    victims.push_back(TakeVictim());
    if (victims.back() == nullptr) break;
  }
  ++open_count_;
}

void FilePool::GiveUpReserved() {
  MutexLock lock(mutex_);
  --open_count_;
}

// Inserts it right behind the hand, so that the hand reaches it last.
void FilePool::Enter(const PooledFile* file, std::unique_ptr<File> opened) {
  MutexLock lock(mutex_);
  file->place = ring_.insert(hand_, file);
  file->SetOpen(std::move(opened));
}

void FilePool::Leave(const PooledFile* file) {
  MutexLock lock(mutex_);
  if (!file->is_open()) return;
  if (hand_ == file->place) ++hand_;
  ring_.erase(file->place);
  --open_count_;
}

// Goes around twice: the first round may only clear the marks of recent use.
std::unique_ptr<File> FilePool::TakeVictim() {
  for (size_t left = 2 * ring_.size(); left > 0; --left) {
    if (hand_ == ring_.end()) hand_ = ring_.begin();
    std::unique_ptr<File> closed = (*hand_)->TryToClose();
    if (closed == nullptr) {
      ++hand_;
      continue;
    }
    hand_ = ring_.erase(hand_);
    --open_count_;
    return closed;
  }
  return nullptr;
}

}  // namespace stele::internal
