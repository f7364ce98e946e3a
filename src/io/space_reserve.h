// io/space_reserve.h: the file RESERVE, which reserves disk space for the time when the disk is
// full.
//
// Freeing space on a full disk needs a little space itself: for a record in the log and the
// manifest, and for a flush. Open releases the reserve if it finds no room, and so does a call that
// frees space. Until the reserve is restored, all other writes are refused, so that they do not use
// it up.
// Used by:   state/write_gate.cc (Release, Restore), jobs/job_scheduler.cc (RestoreIsDue).
// Format:    the contents of the file have no meaning (docs/reference/format/conventions.md).
// Errors:    none: if the file cannot be made, there is no reserve.
// Threads:   thread-safe. Its mutex is held over I/O; calls that do not access the file take no
//            lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "io/file_system.h"

namespace stele::internal {

class SpaceReserve {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `bytes` is the size of the file; 0: no reserve. The file is created only if `headroom_bytes`
  // stay free; after a release, less free space is enough. On a disk that is too small for it, the
  // file has 1 MiB, which is enough for Open and a drop.
  SpaceReserve(FileSystem* file_system, std::string directory, uint64_t bytes,
               uint64_t headroom_bytes)
      : file_system_(file_system),
        directory_(std::move(directory)),
        bytes_(bytes),
        headroom_bytes_(headroom_bytes),
        file_bytes_(bytes) {}

  // The bytes that this process may still write to the disk; UINT64_MAX if there is no limit or it
  // is unknown.
  uint64_t FreeBytes() const;
  // The bytes that a release would free now.
  uint64_t ReservedBytes() const {
    return is_in_place_.load(std::memory_order_acquire) ? file_bytes_.load() : 0;
  }
  // Checks whether an earlier session left the file.
  void Find();
  // Removes the file. Returns true if there was one.
  bool Release();
  // Call if the disk is full and there is no file to remove. Then the reserve counts as released,
  // until there is space for a small one. Returns false if it counts as released already, if there
  // is a file, or if the size of the reserve is 0.
  bool NoteMissing();
  // True if the reserve was released and not restored.
  bool is_released() const { return is_released_.load(std::memory_order_acquire); }
  // Returns why writes that free no space are refused while the reserve is released.
  absl::Status Refusal() const;

  // True if the file is missing and a check for room is due. With TimePoint::max() as `now`, time
  // alone makes no check due.
  bool RestoreIsDue(TimePoint now) const;
  // Creates the file if there is room for it and `may_take`. Otherwise it is due again after a
  // second, or after NoteSpaceFreed. If a limit of file sizes allows no file of this size, it has 1
  // MiB. If the limit does not allow that either, the reserve no longer counts as released.
  void Restore(TimePoint now, bool may_take);
  // Call when space may have become free.
  void NoteSpaceFreed() { waits_.store(false, std::memory_order_release); }

 private:
  std::string Path() const;
  uint64_t NeededBytes() const;  // must be free before it is made
  absl::Status Make() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  FileSystem* const file_system_;
  const std::string directory_;
  const uint64_t bytes_;
  const uint64_t headroom_bytes_;
  std::atomic<uint64_t> file_bytes_;  // the size of the file: bytes_, or that of a small one
  Mutex mutex_;                       // held while the file is made or removed
  // When to try again to make the file, after an attempt failed although there was room.
  TimePoint make_at_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_in_place_{false};
  std::atomic<bool> is_released_{false};
  std::atomic<bool> waits_{false};
  std::atomic<TimePoint::rep> retry_at_{0};  // while it waits
};

}  // namespace stele::internal
