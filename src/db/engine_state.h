// db/engine_state.h: what changes while a database is open, behind the one database lock: the current view, each table's memtables, and
// what background work is under way.
//
// Path:      commit leader -> ActiveMemtable, Publish, Freeze; installer -> Install; readers -> TakeReadPoint; background -> the rest.
// Invariant: memtables become active or frozen only in the commit order (by the leader, or in an exclusive section), so that a freeze
//            never divides a batch (engine rule 2); a table's frozen memtables leave oldest first (engine rule 1).
// Threads:   thread-safe. No I/O and no callback happens under `mutex`. Lock order: docs/locks.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "db/event_counts.h"
#include "db/job_failures.h"
#include "db/pinned_views.h"
#include "db/sstable_files.h"
#include "db/tablet_counters.h"
#include "db/unreadable_files.h"
#include "memtable/memtable.h"
#include "read/read_view.h"

namespace stele::internal {

struct FrozenMemtable {
  std::shared_ptr<const Memtable> memtable;
  int64_t newest_commit_time = 0;
};

// Operations since open, for TableStats; relaxed: figures, they order nothing.
struct TableCounters {
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> writes{0};
};

struct TableMemory {
  std::shared_ptr<Memtable> active;
  int64_t active_commit_time = 0;     // the newest in `active`
  std::deque<FrozenMemtable> frozen;  // oldest first
  bool flush_running = false;
  std::shared_ptr<TableCounters> counters = std::make_shared<TableCounters>();
  std::shared_ptr<const TabletWrites> tablet_writes;  // of the view's tablets
};

class EngineState {
 public:
  EngineState(SstableFiles* files, PinnedViews* pins, MemoryBudget* memory) : files_(files), pins_(pins), memory_(memory) {}

  // The newest published commit of all tables, seen at `now`.
  ReadPoint TakeReadPoint(int64_t now) const;
  std::shared_ptr<const ReadView> view() const;
  bool HasTable(uint32_t table_id) const {
    MutexLock lock(mutex);
    return tables.contains(table_id);
  }
  std::shared_ptr<const ReadView> ViewLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return view_; }
  uint64_t published_sequence() const { return published_.load(std::memory_order_acquire); }
  // After every operation of every batch up to `sequence` is in its memtable. Pairs with the acquire of published_sequence(): whoever reads
  // at the sequence sees what was applied.
  void Publish(uint64_t sequence) { published_.store(sequence, std::memory_order_release); }

  // For the commit leader and exclusive sections only; null for a table that is gone.
  std::shared_ptr<Memtable> ActiveMemtable(uint32_t table_id, int64_t commit_time);
  // The same, and where to count what goes into it.
  struct WriteTarget {
    std::shared_ptr<Memtable> memtable;
    std::shared_ptr<const TabletWrites> tablet_writes;
  };
  WriteTarget TargetOf(uint32_t table_id, int64_t commit_time);
  // The table's active memtable becomes its newest frozen one, if it holds anything.
  void Freeze(uint32_t table_id);
  // Starts an empty memtable that knows the table's present families.
  void RenewActive(uint32_t table_id);

  // Makes `version` current. Tables that appear get a memtable; those that vanished lose theirs; if `flushed` is set, that memtable (the
  // oldest frozen one of its table) goes. Opens files first, without the lock. One caller at a time (the installer's).
  struct Flushed {
    uint32_t table_id = 0;
    const Memtable* memtable = nullptr;
  };
  void Install(std::shared_ptr<const Version> version, std::optional<Flushed> flushed);

  // Wakes background threads: something became due that no change of the state tells them.
  void Notify() {
    MutexLock lock(mutex);
    changed.SignalAll();
  }

  // Bytes of all memtables, active and frozen. Any thread; a moment old.
  uint64_t memtable_bytes() const { return memtable_bytes_.load(std::memory_order_relaxed); }
  // An active memtable grew.
  void AddMemtableBytes(uint64_t bytes) {
    if (bytes == 0) return;
    memtable_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    memory_->Charge(MemoryBudget::Use::kMemtables, bytes);
  }
  // The greatest sequence such that no memtable but `except` (may be null) holds it or an older one: what the log may forget once
  // `except` is in files.
  uint64_t FlushedThrough(const Memtable* except) const;
  // The table whose memtables hold the oldest commit, if any holds one in its active memtable and nothing frozen.
  std::optional<uint32_t> TableWithOldestActive() const;
  // Freezes the largest active memtables until those that stay active hold at most `active_bytes_max` together: what is not frozen is
  // never flushed, and writers would wait for it for ever. As Freeze: for the commit leader.
  void Relieve(uint64_t active_bytes_max);
  std::shared_ptr<TableCounters> Counters(uint32_t table_id) const;
  void ForgetUnreadable(uint64_t file_number) {
    MutexLock lock(mutex);
    unreadable.Forget(file_number);
  }
  // What compactions leave alone now.
  FilesByTablet UnreadableNow() const {
    MutexLock lock(mutex);
    return unreadable.FilesAt(std::chrono::steady_clock::now());
  }

  mutable Mutex mutex;
  CondVar changed;  // signalled whenever something a waiter may wait for changed
  std::map<uint32_t, TableMemory> tables ABSL_GUARDED_BY(mutex);
  std::set<TabletName> busy_tablets ABSL_GUARDED_BY(mutex);  // a compaction runs on them
  UnreadableFiles unreadable ABSL_GUARDED_BY(mutex);
  JobFailures failures ABSL_GUARDED_BY(mutex);
  EventCounts event_counts;
  // failures.RefusingWrites() is an error; for writers that do not take the mutex. Release there, acquire in Engine::CheckWritable.
  std::atomic<bool> writes_refused{false};

 private:
  std::optional<uint32_t> TableToRelieve(uint64_t active_bytes_max) const;
  void RebuildTableLocked(uint32_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  std::shared_ptr<Memtable> NewMemtable(const FamilyList& families);
  std::vector<ViewTablet> OpenTablets(const TableState& state, const TableView* before);

  SstableFiles* const files_;
  PinnedViews* const pins_;
  MemoryBudget* const memory_;
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(mutex) = std::make_shared<ReadView>();
  std::atomic<uint64_t> published_{0};
  std::atomic<uint64_t> memtable_bytes_{0};
};

}  // namespace stele::internal
