#include "io/space_reserve.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

constexpr auto kRetryInterval = std::chrono::seconds(1);
// The free space required in addition to the reserve after it was released. It is small, so that a
// user who deleted a little can write a little.
constexpr uint64_t kReleasedHeadroomBytesMax = uint64_t{256} << 10;
constexpr uint64_t kSmallReserveBytes = uint64_t{1} << 20;

}  // namespace

std::string SpaceReserve::Path() const { return JoinPath(directory_, kReserveName); }

uint64_t SpaceReserve::FreeBytes() const {
  return file_system_->FreeBytes(directory_).value_or(UINT64_MAX);
}

void SpaceReserve::Find() {
  const absl::StatusOr<FileInfo> info = file_system_->Stat(Path());
  const bool is_file = info.ok() && info->kind == FileKind::kFile;
  is_in_place_.store(is_file && info->bytes > 0, std::memory_order_release);
  if (!is_file) return;
  const bool is_small = info->bytes == std::min(bytes_, kSmallReserveBytes);
  const bool may_grow = FreeBytes() >= bytes_ + headroom_bytes_;
  if (info->bytes == bytes_ || (is_small && !may_grow)) {
    file_bytes_.store(info->bytes);
    return;
  }
  // The file was made with another memory budget, is incomplete, or can be larger now.
  Release();
  is_released_.store(false, std::memory_order_release);
}

bool SpaceReserve::Release() {
  MutexLock lock(mutex_);
  if (!is_in_place_.load(std::memory_order_relaxed)) return false;
  if (!file_system_->Remove(Path()).ok()) return false;
  file_system_->SyncDirectory(directory_).IgnoreError();  // the space is free even if this fails
  is_in_place_.store(false, std::memory_order_release);
  is_released_.store(true, std::memory_order_release);
  return true;
}

bool SpaceReserve::NoteMissing() {
  MutexLock lock(mutex_);
  if (bytes_ == 0 || is_released() || is_in_place_.load(std::memory_order_relaxed)) return false;
  // Its size is unknown: perhaps the disk never had room for more than a small one.
  file_bytes_.store(std::min(bytes_, kSmallReserveBytes));
  is_released_.store(true, std::memory_order_release);
  return true;
}

absl::Status SpaceReserve::Refusal() const {
  if (!is_released()) return absl::OkStatus();
  const uint64_t free_bytes = FreeBytes();
  return ResourceExhausted(
      "the disk is full: {} bytes are free, but {} are needed{}; only calls that free space are "
      "allowed (deletes, DropRowRange, DeleteTable); delete data or free disk space",
      free_bytes == UINT64_MAX ? "an unknown number of" : std::to_string(free_bytes), NeededBytes(),
      free_bytes < NeededBytes() ? "" : ", so a quota may be used up");
}

uint64_t SpaceReserve::NeededBytes() const {
  return file_bytes_.load() +
         (is_released() ? std::min(headroom_bytes_, kReleasedHeadroomBytesMax) : headroom_bytes_);
}

bool SpaceReserve::RestoreIsDue(TimePoint now) const {
  if (bytes_ == 0 || is_in_place_.load(std::memory_order_acquire)) return false;
  if (!waits_.load(std::memory_order_acquire)) return true;
  return now != TimePoint::max() &&
         now.time_since_epoch().count() >= retry_at_.load(std::memory_order_relaxed);
}

void SpaceReserve::Restore(TimePoint now, bool may_take) {
  MutexLock lock(mutex_);
  if (bytes_ == 0 || is_in_place_.load(std::memory_order_relaxed)) return;
  const TimePoint later = now == TimePoint::max() ? now : now + kRetryInterval;
  retry_at_.store(later.time_since_epoch().count(), std::memory_order_relaxed);
  const bool waits = waits_.exchange(true, std::memory_order_acq_rel);
  if (!may_take) return;
  const uint64_t free_bytes = FreeBytes();
  if (free_bytes == UINT64_MAX && !is_released()) return;
  if (free_bytes < NeededBytes()) {
    if (is_released() || free_bytes < 2 * kSmallReserveBytes) return;
    file_bytes_.store(std::min(bytes_, kSmallReserveBytes));
  }
  // A quota is not part of free_bytes. Refused writes must not create the file again and again.
  if (waits && now < make_at_) return;
  absl::Status made = Make();
  // A limit of file sizes is no lack of space, and deletes do not change it. A lack of space, also
  // under a quota, must not lead to a smaller file: other writes would then use the space that was
  // released for calls that free space.
  if (ExceedsFileSizeLimit(made) && file_bytes_.load() > kSmallReserveBytes) {
    const uint64_t bytes_before = file_bytes_.exchange(kSmallReserveBytes);
    made = Make();
    if (!made.ok() && !ExceedsFileSizeLimit(made)) file_bytes_.store(bytes_before);
  }
  make_at_ = made.ok() || now == TimePoint::max() ? TimePoint() : later;
  is_in_place_.store(made.ok(), std::memory_order_release);
  // Under a still lower limit there is no reserve, as after an Open under the limit.
  if (made.ok() || ExceedsFileSizeLimit(made)) is_released_.store(false, std::memory_order_release);
}

absl::Status SpaceReserve::Make() {
  absl::StatusOr<std::unique_ptr<File>> file = file_system_->Open(Path(), OpenMode::kCreate);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->Allocate(file_bytes_.load());
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = file_system_->SyncDirectory(directory_);
  file->reset();
  if (!status.ok()) file_system_->Remove(Path()).IgnoreError();
  return status;
}

}  // namespace stele::internal
