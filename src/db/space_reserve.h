// db/space_reserve.h: the file RESERVE, which takes disk space for the time when the disk is full.
//
// A full disk is emptied by deleting, and that takes a little space itself: a record in the log and the manifest, and a flush. The reserve
// is released for it: by Open where it finds no room, and by a call that frees space. Until the reserve is back, all other writes are
// refused, so that they do not use it up.
// Path:      open, engine -> Release; background -> Restore.
// Format:    the bytes of the file say nothing (docs/format/conventions.md).
// Errors:    none: where the file cannot be made there is no reserve.
// Threads:   thread-safe. Its mutex is held over I/O; what does not name the file takes no lock.
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

  // `bytes`: the size of the file; 0: no reserve. The file is made only if `beside_bytes` stay free
  // after it. After a release, less free space is enough.
  SpaceReserve(FileSystem* file_system, std::string directory, uint64_t bytes, uint64_t beside_bytes)
      : file_system_(file_system), directory_(std::move(directory)), bytes_(bytes), beside_bytes_(beside_bytes) {}

  // What this process may still write to the disk; UINT64_MAX where nothing limits it, or nobody knows.
  uint64_t FreeBytes() const;
  // Looks for the file that an earlier session left.
  void Find();
  // Removes the file. True if there was one.
  bool Release();
  // It was released, and is not back.
  bool is_released() const { return is_released_.load(std::memory_order_acquire); }
  // While it is released: why writes are refused that free no space.
  absl::Status Refusal() const;

  // The file is missing, and it is time to see whether there is room for it. TimePoint::max(): there will be no later time.
  bool RestoreIsDue(TimePoint now) const;
  // Makes the file if there is room for it and `may_take`; else it is due again after a second, or after LookAgain.
  void Restore(TimePoint now, bool may_take);
  // Space may have become free.
  void LookAgain() { waits_.store(false, std::memory_order_release); }

 private:
  std::string Path() const;
  uint64_t NeededBytes() const;  // that have to be free for it to be made
  bool Make() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  FileSystem* const file_system_;
  const std::string directory_;
  const uint64_t bytes_;
  const uint64_t beside_bytes_;
  Mutex mutex_;  // held by whoever makes or removes the file
  std::atomic<bool> is_in_place_{false};
  std::atomic<bool> is_released_{false};
  std::atomic<bool> waits_{false};
  std::atomic<TimePoint::rep> look_at_{0};  // while it waits
};

}  // namespace stele::internal
