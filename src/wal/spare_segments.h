// wal/spare_segments.h: segment files for later use: new ones, and recycled released segments.
//
// Used by:   wal/commit_log.cc: Append calls Take and Retire, Release calls Retire and
//            RemoveExcess, PrepareSpare calls Prepare.
// Rules:     a spare's name is durable, its space is reserved and its size is synced. Spares are
//            used in number order, and never below a number that was used already: a spare that was
//            skipped is renamed. Retired files are removed or renamed in order, each durably before
//            the next. So a crash never leaves a hole between segments that a reader may still
//            read.
// Errors:    those of the file system. The next call retries what failed.
// Threads:   thread-safe. mutex_ is never held over I/O. maintenance_ is held over I/O, and only
//            Prepare and RemoveExcess lock it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "io/file_system.h"

namespace stele::internal {

// A file with reserved space, for the next segment. A recycled file still has the header of its
// previous use.
struct BlankSegment {
  uint64_t number = 0;
  std::shared_ptr<File> file;
  uint64_t file_bytes = 0;
  bool synced = false;   // its size and its name in the directory
  bool written = false;  // filled before, so that a sync has no metadata to write
};

// A file that is no longer part of the log.
struct RetiredSegment {
  uint64_t number = 0;
  bool reusable = false;  // false: it is removed
};

struct SpareSegmentsOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t segment_bytes = 0;
  size_t spares_max = 0;
  std::function<uint64_t()> next_file_number;
  std::function<bool()> space_is_scarce;  // may be empty
};

class SpareSegments {
 public:
  explicit SpareSegments(SpareSegmentsOptions options) : options_(std::move(options)) {}

  // Returns the next spare, if it has at least `file_bytes_min`. Otherwise reserves space for a new
  // file of segment_bytes, or of `file_bytes_min` if that is more. The new file is not synced, so
  // that a writer does not wait. If space is scarce, the file is as small as possible. If a quota
  // or a limit of file sizes refuses the usual size, the size is halved until the system accepts
  // it. Then there are no spares until the usual size works again. ResourceExhausted: there was no
  // space, and no file is left behind.
  absl::StatusOr<BlankSegment> Take(uint64_t file_bytes_min);
  // Returns a new file of `file_bytes` zeros. It is synced, but its name is not.
  absl::StatusOr<BlankSegment> MakeFilled(uint64_t file_bytes);

  // Returns the log's first file, with `file_bytes` zeros. If there is no space for it, it is
  // smaller, at least `file_bytes_min`, and only reserved.
  absl::StatusOr<BlankSegment> MakeFirst(uint64_t file_bytes, uint64_t file_bytes_min);

  bool space_is_scarce() const { return space_is_scarce_.load(std::memory_order_relaxed); }
  bool Needed() const;
  // HasSpare: there is a spare. HasRetired: there is a retired file. If it is reusable, it becomes
  // a spare without being filled.
  bool HasSpare() const;
  bool HasRetired() const;
  // Makes one spare, from a retired file if there is one; does nothing if there are enough.
  absl::Status Prepare();

  void Retire(RetiredSegment segment);
  // Removes a file. Its number must be the highest one, and no reader may need it. If that fails,
  // retires the file.
  void Discard(uint64_t number);
  // Removes retired files that are not needed as spares. The next Prepare retries a removal that
  // failed.
  absl::Status RemoveExcess();
  bool RemovalIsDue() const;

 private:
  std::string Path(uint64_t number) const;
  bool LookForSpace();
  absl::StatusOr<BlankSegment> Reserve(uint64_t file_bytes);
  // Halves `file_bytes` as long as there is no room for it, to 64 KiB. At last it tries
  // `file_bytes_min`.
  absl::StatusOr<BlankSegment> ReserveBetween(uint64_t file_bytes_min, uint64_t file_bytes);
  uint64_t BytesToTry(uint64_t usual_bytes) const;
  absl::Status FillWithZeros(const BlankSegment& segment) const;
  absl::StatusOr<BlankSegment> Recycle(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  absl::StatusOr<uint64_t> Renumber(uint64_t number);
  absl::Status RemoveDurably(uint64_t number);
  absl::Status RemoveExcessLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  absl::Status RemoveRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  std::optional<RetiredSegment> FrontRetired() const;
  void PopRetired();

  const SpareSegmentsOptions options_;
  Mutex maintenance_;  // Acquired before mutex_. A thread holds it while it changes retired files.
  mutable Mutex mutex_;
  std::vector<BlankSegment> spares_ ABSL_GUARDED_BY(mutex_);  // ascending
  // The front is changed under maintenance_ only.
  std::deque<RetiredSegment> retired_ ABSL_GUARDED_BY(mutex_);
  uint64_t used_number_ ABSL_GUARDED_BY(mutex_) = 0;  // the highest number used
  // The size of the last new file if there was no space for the usual size; 0 if there was.
  uint64_t limited_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool removal_failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> space_is_scarce_{false};  // relaxed: may be slightly out of date
};

}  // namespace stele::internal
