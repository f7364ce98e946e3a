// wal/spare_segments.h: segment files that wait to be used next: made ahead, or recycled from released ones.
//
// Path:      commit_log.cc: Append -> Take; Release -> Retire, RemoveExcess; background -> Prepare.
// Rules:     a spare's name is durable, its space is reserved and its size synced. Spares are used in number order, and never below a
//            number that was used already: one that was passed by is renamed. Retired files leave in the order in which they came, each
//            durably before the next, so that a crash never leaves a hole between segments that a reader may still follow.
// Errors:    those of the file system. What failed is tried again by the next call.
// Threads:   thread-safe. mutex_ is never held over I/O; maintenance_ is, and only Prepare and RemoveExcess take it.
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

// A file with reserved space and without a header of its own yet.
struct BlankSegment {
  uint64_t number = 0;
  std::shared_ptr<File> file;
  uint64_t file_bytes = 0;
  bool synced = false;   // its size and its name in the directory
  bool written = false;  // filled before, so that a sync finds no metadata to write
};

// A file that is not part of the log any more.
struct RetiredSegment {
  uint64_t number = 0;
  bool reusable = false;  // else it is removed
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

  // The next spare if one of at least `file_bytes_min` waits; else a new file of that size (or of segment_bytes), its space reserved but
  // nothing synced, so that a writer does not wait for zeros. Where space is scarce the file is as small as it may be.
  // ResourceExhausted: there was no space; nothing is left behind.
  absl::StatusOr<BlankSegment> Take(uint64_t file_bytes_min);
  // A new file of `file_bytes` zeros, synced; its name is not yet.
  absl::StatusOr<BlankSegment> MakeFilled(uint64_t file_bytes);

  // The log's first file, of `file_bytes` zeros; where space is scarce, of less, at least `file_bytes_min`, and only reserved.
  absl::StatusOr<BlankSegment> MakeFirst(uint64_t file_bytes, uint64_t file_bytes_min);

  bool space_is_scarce() const { return space_is_scarce_.load(std::memory_order_relaxed); }
  bool Needed() const;
  // A spare waits; a retired file waits that may become one without being filled.
  bool HasSpare() const;
  bool HasRetired() const;
  // Makes one spare, out of a retired file if there is one; nothing when enough wait.
  absl::Status Prepare();

  void Retire(RetiredSegment segment);
  // Removes retired files that will not be needed as spares. What fails is due then, and done by the next Prepare.
  absl::Status RemoveExcess();
  bool RemovalIsDue() const;

 private:
  std::string Path(uint64_t number) const;
  bool LookForSpace();
  absl::StatusOr<BlankSegment> Reserve(uint64_t file_bytes);
  // As large as there is room for.
  absl::StatusOr<BlankSegment> ReserveBetween(uint64_t file_bytes_min, uint64_t file_bytes);
  absl::Status FillWithZeros(const BlankSegment& segment) const;
  absl::StatusOr<BlankSegment> Recycle(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  absl::StatusOr<uint64_t> Renumber(uint64_t number);
  absl::Status RemoveDurably(uint64_t number);
  absl::Status RemoveExcessLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  absl::Status RemoveRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_);
  std::optional<RetiredSegment> FrontRetired() const;
  void PopRetired();

  const SpareSegmentsOptions options_;
  Mutex maintenance_;  // before mutex_; held by whoever changes retired files
  mutable Mutex mutex_;
  std::vector<BlankSegment> spares_ ABSL_GUARDED_BY(mutex_);    // ascending
  std::deque<RetiredSegment> retired_ ABSL_GUARDED_BY(mutex_);  // the front is changed under maintenance_ only
  uint64_t used_number_ ABSL_GUARDED_BY(mutex_) = 0;            // the highest that was taken
  bool removal_failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> space_is_scarce_{false};  // relaxed: a moment old
};

}  // namespace stele::internal
