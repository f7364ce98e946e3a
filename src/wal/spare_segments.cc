#include "wal/spare_segments.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/buffer.h"
#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

// The size of a segment if the disk has little space. A smaller one is made only if it must be.
constexpr uint64_t kScarceSegmentBytes = uint64_t{64} << 10;
// The size of one write of zeros: short enough not to delay other writers of the disk.
constexpr uint64_t kZeroBytes = uint64_t{1} << 20;

}  // namespace

std::string SpareSegments::Path(uint64_t number) const {
  return JoinPath(options_.directory, SegmentName(number));
}

absl::StatusOr<BlankSegment> SpareSegments::Reserve(uint64_t file_bytes) {
  BlankSegment segment{.number = options_.next_file_number(), .file_bytes = file_bytes};
  const std::string path = Path(segment.number);
  STELE_ASSIGN_OR_RETURN(segment.file, options_.file_system->Open(path, OpenMode::kCreate));
  if (absl::Status status = segment.file->Allocate(file_bytes); !status.ok()) {
    segment.file.reset();
    // If the removal fails, too, an empty file remains. No reader takes it for a segment, and the
    // next Start removes it.
    options_.file_system->Remove(path).IgnoreError();
    return status;
  }
  return segment;
}

bool SpareSegments::LookForSpace() {
  const bool is_scarce = options_.space_is_scarce && options_.space_is_scarce();
  space_is_scarce_.store(is_scarce, std::memory_order_relaxed);
  return is_scarce;
}

absl::StatusOr<BlankSegment> SpareSegments::ReserveBetween(uint64_t file_bytes_min,
                                                           uint64_t file_bytes) {
  absl::StatusOr<BlankSegment> segment = Reserve(file_bytes);
  while (LacksSpace(segment.status()) && file_bytes_min < file_bytes) {
    file_bytes = file_bytes > kScarceSegmentBytes
                     ? std::max({file_bytes / 2, kScarceSegmentBytes, file_bytes_min})
                     : file_bytes_min;
    segment = Reserve(file_bytes);
  }
  return segment;
}

// Twice the size that worked last, after a limit was found. So a segment costs at most one attempt
// that fails, and the log notices that the limit is gone.
uint64_t SpareSegments::BytesToTry(uint64_t usual_bytes) const {
  MutexLock lock(mutex_);
  if (limited_bytes_ == 0) return usual_bytes;
  return std::min(usual_bytes, std::max(2 * limited_bytes_, kScarceSegmentBytes));
}

absl::StatusOr<BlankSegment> SpareSegments::MakeFirst(uint64_t file_bytes,
                                                      uint64_t file_bytes_min) {
  if (!LookForSpace()) {
    absl::StatusOr<BlankSegment> filled = MakeFilled(file_bytes);
    if (!LacksSpace(filled.status())) return filled;  // else a quota is used up
  }
  RemoveExcess().IgnoreError();
  STELE_ASSIGN_OR_RETURN(BlankSegment segment,
                         ReserveBetween(file_bytes_min, std::min(file_bytes, kScarceSegmentBytes)));
  // The segment's header will state that these bytes exist, so they must survive a power failure.
  if (absl::Status status = segment.file->Sync(); !status.ok()) {
    segment.file.reset();
    options_.file_system->Remove(Path(segment.number)).IgnoreError();  // as in Reserve
    return status;
  }
  return segment;
}

absl::Status SpareSegments::FillWithZeros(const BlankSegment& segment) const {
  STELE_ASSIGN_OR_RETURN(Buffer zeros, Buffer::Allocate(std::min(segment.file_bytes, kZeroBytes)));
  std::memset(zeros.data(), 0, zeros.size());
  for (uint64_t offset = 0; offset < segment.file_bytes; offset += kZeroBytes) {
    const uint64_t step_bytes = std::min(kZeroBytes, segment.file_bytes - offset);
    STELE_RETURN_IF_ERROR(segment.file->Write(offset, zeros.view().substr(0, step_bytes)));
  }
  return segment.file->Sync();
}

absl::StatusOr<BlankSegment> SpareSegments::MakeFilled(uint64_t file_bytes) {
  STELE_ASSIGN_OR_RETURN(BlankSegment segment, Reserve(file_bytes));
  if (absl::Status status = FillWithZeros(segment); !status.ok()) {
    segment.file.reset();
    options_.file_system->Remove(Path(segment.number)).IgnoreError();  // as in Reserve
    return status;
  }
  segment.written = true;
  return segment;
}

absl::StatusOr<BlankSegment> SpareSegments::Take(uint64_t file_bytes_min) {
  {
    MutexLock lock(mutex_);
    if (!spares_.empty() && spares_.front().file_bytes >= file_bytes_min) {
      BlankSegment segment = std::move(spares_.front());
      spares_.erase(spares_.begin());
      used_number_ = segment.number;
      return segment;
    }
  }
  const uint64_t usual_bytes = LookForSpace()
                                   ? std::min(options_.segment_bytes, kScarceSegmentBytes)
                                   : options_.segment_bytes;
  absl::StatusOr<BlankSegment> segment =
      ReserveBetween(file_bytes_min, std::max(file_bytes_min, BytesToTry(usual_bytes)));
  MutexLock lock(mutex_);
  if (!segment.ok()) {
    // Under a quota that is used up, the next call does not try all sizes again.
    if (LacksSpace(segment.status()) && usual_bytes > kScarceSegmentBytes)
      limited_bytes_ = kScarceSegmentBytes / 2;
    return segment;
  }
  used_number_ = segment->number;
  limited_bytes_ = segment->file_bytes < usual_bytes ? segment->file_bytes : 0;
  // Spares with lower numbers were skipped; Prepare gives them new numbers.
  while (!spares_.empty() && spares_.front().number < used_number_) {
    retired_.push_back({spares_.front().number, true});
    spares_.erase(spares_.begin());
  }
  return segment;
}

bool SpareSegments::Needed() const {
  if (space_is_scarce()) return false;
  MutexLock lock(mutex_);
  return limited_bytes_ == 0 && spares_.size() < options_.spares_max;
}

bool SpareSegments::HasSpare() const {
  MutexLock lock(mutex_);
  return !spares_.empty();
}

bool SpareSegments::HasRetired() const {
  MutexLock lock(mutex_);
  return !retired_.empty();
}

void SpareSegments::Retire(RetiredSegment segment) {
  MutexLock lock(mutex_);
  retired_.push_back(segment);
}

void SpareSegments::Discard(uint64_t number) {
  if (!RemoveDurably(number).ok()) Retire({number, false});
}

std::optional<RetiredSegment> SpareSegments::FrontRetired() const {
  MutexLock lock(mutex_);
  if (retired_.empty()) return std::nullopt;
  return retired_.front();
}

void SpareSegments::PopRetired() {
  MutexLock lock(mutex_);
  retired_.pop_front();
}

absl::StatusOr<uint64_t> SpareSegments::Renumber(uint64_t number) {
  const uint64_t new_number = options_.next_file_number();
  STELE_RETURN_IF_ERROR(options_.file_system->Rename(Path(number), Path(new_number)));
  return new_number;
}

absl::Status SpareSegments::RemoveDurably(uint64_t number) {
  absl::Status status = options_.file_system->Remove(Path(number));
  if (!status.ok() && status.code() != absl::StatusCode::kNotFound) return status;
  return options_.file_system->SyncDirectory(options_.directory);
}

// Makes a spare of the front of retired_, which has this number, under a new name. Returns NotFound
// if the file does not have exactly the size of a spare, or if a hard-linked copy of the database
// has it, too.
absl::StatusOr<BlankSegment> SpareSegments::Recycle(uint64_t number) {
  BlankSegment segment{
      .number = number, .file_bytes = options_.segment_bytes, .synced = true, .written = true};
  {
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                           options_.file_system->Open(Path(number), OpenMode::kReadWrite));
    STELE_ASSIGN_OR_RETURN(const uint64_t file_bytes, file->Size());
    if (file_bytes != options_.segment_bytes)
      return NotFound("{}: not the size of a spare", file->path());
    STELE_ASSIGN_OR_RETURN(const FileInfo info, options_.file_system->Stat(Path(number)));
    if (info.links > 1) return NotFound("{}: the file has other hard links", file->path());
    STELE_RETURN_IF_ERROR(file->Allocate(file_bytes));  // does nothing unless the file has holes
    STELE_RETURN_IF_ERROR(file->Sync());
  }
  STELE_ASSIGN_OR_RETURN(segment.number, Renumber(number));
  {
    MutexLock lock(mutex_);
    retired_.front().number = segment.number;  // its name, even if a later step fails
  }
  STELE_RETURN_IF_ERROR(options_.file_system->SyncDirectory(options_.directory));
  STELE_ASSIGN_OR_RETURN(segment.file,
                         options_.file_system->Open(Path(segment.number), OpenMode::kReadWrite));
  return segment;
}

absl::Status SpareSegments::Prepare() {
  MutexLock maintenance_lock(maintenance_);
  LookForSpace();
  if (RemovalIsDue()) STELE_RETURN_IF_ERROR(RemoveExcessLocked());
  while (Needed()) {
    const std::optional<RetiredSegment> retired = FrontRetired();
    if (retired.has_value() && !retired->reusable) {
      STELE_RETURN_IF_ERROR(RemoveDurably(retired->number));
      PopRetired();
      continue;
    }
    absl::StatusOr<BlankSegment> made =
        retired.has_value() ? Recycle(retired->number) : MakeFilled(options_.segment_bytes);
    if (!made.ok() && retired.has_value() && made.status().code() == absl::StatusCode::kNotFound) {
      MutexLock lock(mutex_);
      retired_.front().reusable = false;
      continue;
    }
    STELE_RETURN_IF_ERROR(made.status());
    if (retired.has_value()) {
      PopRetired();
    } else if (absl::Status status = options_.file_system->SyncDirectory(options_.directory);
               !status.ok()) {
      Retire({made->number, true});
      return status;
    }
    made->synced = true;
    MutexLock lock(mutex_);
    if (made->number < used_number_) {  // Take has created a newer file meanwhile
      retired_.push_back({made->number, true});
      continue;
    }
    spares_.push_back(*std::move(made));
    std::sort(spares_.begin(), spares_.end(),
              [](const BlankSegment& a, const BlankSegment& b) { return a.number < b.number; });
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status SpareSegments::RemoveExcess() {
  MutexLock maintenance_lock(maintenance_);
  LookForSpace();
  return RemoveExcessLocked();
}

absl::Status SpareSegments::RemoveExcessLocked() {
  absl::Status status = RemoveRetired();
  MutexLock lock(mutex_);
  removal_failed_ = !status.ok();
  return status;
}

bool SpareSegments::RemovalIsDue() const {
  MutexLock lock(mutex_);
  return removal_failed_;
}

absl::Status SpareSegments::RemoveRetired() {
  const size_t spares_max = space_is_scarce() ? 0 : options_.spares_max;
  while (true) {
    const std::optional<RetiredSegment> retired = FrontRetired();
    {
      MutexLock lock(mutex_);
      if (retired_.empty() || spares_.size() + retired_.size() <= spares_max)
        return absl::OkStatus();
    }
    STELE_RETURN_IF_ERROR(RemoveDurably(retired->number));
    PopRetired();
  }
}

}  // namespace stele::internal
