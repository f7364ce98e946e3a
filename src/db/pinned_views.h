// db/pinned_views.h: the views that snapshots and scans hold, the flushed memtables that these keep in memory, and which of them is to be
// written out next (engine rule 16).
//
// Path:      read_path -> Pin; engine_state -> Retire; background -> SpillIsDue; view_spill -> NextSpill, Replace; engine -> ChargedBytes.
// Why:       a pin costs disk, never unbounded memory: docs/decisions/0012-views-spill-to-disk.md.
// Invariant: a view's oldest memtable is its last one, and a table's memtables retire oldest first: so what is written next always stands
//            at the end of the views that hold it.
// Units:     bytes.
// Threads:   thread-safe. What a view alone still holds is let go outside the mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "read/read_view.h"

namespace stele::internal {

class PinnedViews {
 public:
  enum class Kind { kSnapshot, kScan };

  // `free_bytes`: what pinned memtables may hold without counting as memtables of writers; nothing, while `budget` is exceeded.
  // `stuck_bytes_max`: what counts at most while nothing can be written out, so that writers never wait for a reader that may be waiting
  // for them.
  PinnedViews(const MemoryBudget* budget, uint64_t free_bytes, uint64_t stuck_bytes_max)
      : budget_(*budget), free_bytes_(free_bytes), stuck_bytes_max_(stuck_bytes_max) {}
  PinnedViews(const PinnedViews&) = delete;
  PinnedViews& operator=(const PinnedViews&) = delete;

  // Holds the point's view until the result goes, which must be before this does.
  std::shared_ptr<const PinnedView> Pin(ReadPoint point, Kind kind);
  // When the oldest one was pinned; `kind` none: of any.
  std::optional<int64_t> Oldest(std::optional<Kind> kind) const;

  // The table's memtable is no source of newer views any more.
  void Retire(uint32_t table_id, const std::shared_ptr<const Memtable>& memtable);
  // Of retired memtables that somebody still holds.
  uint64_t memtable_bytes() const;
  // What of it counts against the write memory.
  uint64_t ChargedBytes() const;
  bool SpillIsDue() const;

  struct Holder {
    uint64_t pin_number = 0;
    uint64_t sequence = 0;
    std::shared_ptr<const ReadView> view;
  };
  // The oldest retired memtable that pinned views hold, as the last of the table's memtables, and those views.
  struct Spill {
    uint32_t table_id = 0;
    std::shared_ptr<const Memtable> memtable;
    std::vector<Holder> holders;
  };
  // None when none is due.
  std::optional<Spill> NextSpill() const;
  // `view` shows the same as the one it replaces. Readers at rest take it up here and now. Nothing happens when the pin is gone.
  void Replace(uint64_t pin_number, std::shared_ptr<const ReadView> view);

  // Of files that were written for views and still exist.
  uint64_t file_bytes() const { return file_bytes_.load(std::memory_order_relaxed); }
  void AddFileBytes(uint64_t bytes) { file_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void SubtractFileBytes(uint64_t bytes) { file_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  class Handle;
  struct Entry {
    Kind kind = Kind::kSnapshot;
    uint64_t sequence = 0;
    int64_t now = 0;
    std::shared_ptr<const ReadView> view;
    std::vector<std::weak_ptr<ReaderRest>> readers;  // to be told; those that went leave when the next one comes
  };
  struct Retired {
    uint32_t table_id = 0;
    uint64_t bytes = 0;
    const Memtable* address = nullptr;  // good while `alive` has not expired
    std::weak_ptr<const Memtable> alive;
  };

  static bool Holds(const Entry& entry, const Retired& retired);
  uint64_t MemtableBytesLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null when none is due.
  const Retired* NextLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint64_t free_bytes() const { return budget_.is_over() ? 0 : free_bytes_; }

  const MemoryBudget& budget_;
  const uint64_t free_bytes_;
  const uint64_t stuck_bytes_max_;
  mutable Mutex mutex_;
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);  // by pin number
  uint64_t next_pin_number_ ABSL_GUARDED_BY(mutex_) = 1;
  // Oldest first; those that nobody holds leave when they are met.
  mutable std::vector<Retired> retired_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<size_t> retired_count_{0};  // relaxed: spares writers the mutex while there is nothing to count
  std::atomic<uint64_t> replacements_{0};
  std::atomic<uint64_t> file_bytes_{0};  // relaxed: a figure
};

}  // namespace stele::internal
