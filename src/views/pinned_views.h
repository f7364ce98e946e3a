// views/pinned_views.h: tracks the views that snapshots and scans hold, and the flushed memtables
// that these keep in memory. Selects the next memtable to spill (engine rule 16).
//
// Used by:   state/read_path.cc (Pin), state/engine_state.cc (Retire), jobs/job_scheduler.cc
//            (SpillIsDue), jobs/memtable_spill.cc (NextSpill, Replace), write/write_admission.cc
//            (ChargedBytes).
// Why:       a pin costs disk space, never unbounded memory:
//            docs/decisions/0012-views-spill-to-disk.md.
// Invariant: a view's oldest memtable is its last one, and a table's memtables retire oldest first.
//            So the next memtable to spill is always the last one of the views that hold it.
// Units:     bytes.
// Threads:   thread-safe. A view that is the last user of something is destroyed outside the mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory_tracker.h"
#include "base/mutex.h"
#include "read/read_view.h"

namespace stele::internal {

class PinnedViews {
 public:
  enum class Kind { kSnapshot, kScan };

  // `free_bytes`: the memory that pinned memtables may use without counting as writers' memtables;
  // 0 while the memory budget is exceeded. `stuck_bytes_max`: while nothing can be spilled, at most
  // this many bytes count as writers' memtables. Otherwise writers could wait for a reader that
  // waits for them.
  PinnedViews(const MemoryTracker* memory_tracker, uint64_t free_bytes, uint64_t stuck_bytes_max)
      : memory_tracker_(*memory_tracker),
        free_bytes_(free_bytes),
        stuck_bytes_max_(stuck_bytes_max) {}
  PinnedViews(const PinnedViews&) = delete;
  PinnedViews& operator=(const PinnedViews&) = delete;

  // Pins the point's view until the result is destroyed, which must happen before this object is
  // destroyed.
  std::shared_ptr<const PinnedView> Pin(ReadPoint point, Kind kind);
  // The least read time of the pinned views of `kind`, or of any kind. The views of a snapshot have
  // the snapshot's time.
  std::optional<int64_t> Oldest(std::optional<Kind> kind) const;

  // Call when the table's memtable is no longer a source of newer views.
  void Retire(uint32_t table_id, const std::shared_ptr<const Memtable>& memtable);
  // The size of retired memtables that are still held.
  uint64_t memtable_bytes() const;
  // The part of memtable_bytes() that counts as write memory.
  uint64_t ChargedBytes() const;
  bool SpillIsDue() const;

  struct Holder {
    uint64_t pin_number = 0;
    uint64_t sequence = 0;
    std::shared_ptr<const ReadView> view;
  };
  // The oldest retired memtable that pinned views hold, as the last of the table's memtables, and
  // those views.
  struct Spill {
    uint32_t table_id = 0;
    std::shared_ptr<const Memtable> memtable;
    std::vector<Holder> holders;
  };
  // Returns nullopt if none is due.
  std::optional<Spill> NextSpill() const;
  // `view` has the same contents as the one that it replaces. Idle readers switch to it during this
  // call. Does nothing if the pin no longer exists.
  void Replace(uint64_t pin_number, std::shared_ptr<const ReadView> view);

  // The size of spill files that still exist.
  uint64_t file_bytes() const { return file_bytes_.load(std::memory_order_relaxed); }
  void AddFileBytes(uint64_t bytes) { file_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void SubtractFileBytes(uint64_t bytes) {
    file_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

 private:
  class Handle;
  struct Entry {
    Kind kind = Kind::kSnapshot;
    uint64_t sequence = 0;
    int64_t now = 0;
    std::shared_ptr<const ReadView> view;
    // The readers to notify. Destroyed ones are removed when the next one is added.
    std::vector<std::weak_ptr<IdleReader>> readers;
  };
  struct Retired {
    uint32_t table_id = 0;
    uint64_t bytes = 0;
    const Memtable* address = nullptr;  // valid while `alive` has not expired
    std::weak_ptr<const Memtable> alive;
  };

  static bool Holds(const Entry& entry, const Retired& retired);
  uint64_t MemtableBytesLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns null if none is due.
  const Retired* NextLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint64_t free_bytes() const { return memory_tracker_.is_over() ? 0 : free_bytes_; }

  const MemoryTracker& memory_tracker_;
  const uint64_t free_bytes_;
  const uint64_t stuck_bytes_max_;
  mutable Mutex mutex_;
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);  // by pin number
  uint64_t next_pin_number_ ABSL_GUARDED_BY(mutex_) = 1;
  // Oldest first. Memtables that are no longer held are removed when a scan of the list reaches
  // them.
  mutable std::vector<Retired> retired_ ABSL_GUARDED_BY(mutex_);
  // Relaxed: saves writers the mutex while there are none.
  mutable std::atomic<size_t> retired_count_{0};
  std::atomic<uint64_t> replacements_{0};
  std::atomic<uint64_t> file_bytes_{0};  // relaxed: may be slightly out of date
};

}  // namespace stele::internal
