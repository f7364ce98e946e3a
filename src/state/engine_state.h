// state/engine_state.h: the mutable state of an open database, guarded by one mutex: the current
// view, the memtables of each table, and the running background work.
//
// Used by:   the commit leader in commit/committer.cc (TargetOf, Publish, Freeze),
//            commit/installer.cc (Install), state/read_path.cc (TakeReadPoint),
//            jobs/job_scheduler.cc (jobs and their failures).
// Calls:     memtable/memtable.h and read/read_view.h (a new view), views/pinned_views.h.
// Invariant: memtables become active or frozen only in the commit order (by the leader, or in an
//            exclusive section), so a freeze never divides a batch (engine rule 2). A table's
//            frozen memtables are removed oldest first (engine rule 1).
// Threads:   thread-safe. No I/O and no callback happens under the mutex.
//            Lock order: docs/internals/locking.md.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/memory_tracker.h"
#include "base/mutex.h"
#include "memtable/memtable.h"
#include "read/read_view.h"
#include "state/event_counts.h"
#include "state/job_failures.h"
#include "state/unreadable_files.h"
#include "views/pinned_views.h"
#include "views/sstable_files.h"
#include "views/tablet_counters.h"

namespace stele::internal {

struct FrozenMemtable {
  std::shared_ptr<const Memtable> memtable;
  int64_t newest_commit_time = 0;
};

// Operations since open, for TableStats. Relaxed: no other memory access depends on them.
struct TableCounters {
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> writes{0};
};

class EngineState {
 public:
  EngineState(SstableFiles* files, PinnedViews* pins, MemoryTracker* memory)
      : files_(files), pins_(pins), memory_(memory) {}

  // The newest published commit of all tables, at the time `now`.
  ReadPoint TakeReadPoint(int64_t now) const;
  std::shared_ptr<const ReadView> view() const;
  bool HasTable(uint32_t table_id) const {
    MutexLock lock(mutex_);
    return tables_.contains(table_id);
  }
  uint64_t published_sequence() const { return published_.load(); }
  // Call after every operation of every batch up to `sequence` is in its memtable. A reader at the
  // sequence sees these operations. Store and loads are sequentially consistent, since
  // commit/row_watches.h depends on it.
  void Publish(uint64_t sequence) { published_.store(sequence); }

  // For the commit leader and exclusive sections only. Returns null for a deleted table.
  std::shared_ptr<const Memtable> ActiveMemtable(uint32_t table_id) const;
  // Returns the active memtable for a batch, and records the batch's sequence and commit time. The
  // sequence must not be lower than in an earlier call. Also returns the counters of the table's
  // writes. The memtable is null for a deleted table.
  struct WriteTarget {
    std::shared_ptr<Memtable> memtable;
    std::shared_ptr<const TabletWrites> tablet_writes;
  };
  WriteTarget TargetOf(uint32_t table_id, uint64_t sequence, int64_t commit_time);
  // Returns active memtables that have data, but no commit after `commit_time_max`. Tables with a
  // frozen memtable are left out. Any thread.
  struct IdleMemtable {
    uint32_t table_id = 0;
    std::shared_ptr<const Memtable> memtable;
    uint64_t last_sequence = 0;
  };
  std::vector<IdleMemtable> IdleMemtables(int64_t commit_time_max) const;
  // Makes the table's active memtable its newest frozen one, unless it is empty.
  void Freeze(uint32_t table_id);
  // Starts an empty memtable that has the table's present families.
  void ReplaceActiveMemtable(uint32_t table_id);

  // A frozen memtable whose rows are in a file or were dropped, and so are those of all older ones
  // of the table.
  struct Flushed {
    uint32_t table_id = 0;
    const Memtable* memtable = nullptr;
  };
  // Makes `version` current. New tables get a memtable; removed tables lose theirs. If `flushed` is
  // set, that memtable and older ones of its table are removed. Opens files first, without the
  // lock. One caller at a time (the installer).
  void Install(std::shared_ptr<const Version> version, std::optional<Flushed> flushed);

  // The database's memory budget. Any thread.
  const MemoryTracker& memory() const { return *memory_; }
  // The size of all memtables, active and frozen. Any thread; may be slightly out of date.
  uint64_t memtable_bytes() const { return memtable_bytes_.load(std::memory_order_relaxed); }
  // Call when an active memtable grew.
  void AddMemtableBytes(uint64_t bytes) {
    if (bytes == 0) return;
    memtable_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    memory_->Charge(MemoryTracker::Use::kMemtables, bytes);
  }
  // Returns the greatest sequence such that no memtable, except those of `flushed`, has a commit up
  // to it. Once an edit with `flushed` is installed, the log may release these commits.
  uint64_t FlushedThrough(const std::optional<Flushed>& flushed) const;
  // Returns the table whose memtables have the oldest commit, if that commit is in an active
  // memtable and the table has no frozen one.
  std::optional<uint32_t> TableWithOldestActive() const;
  // Freezes the largest active memtables until the others have at most `active_bytes_max` together.
  // Only frozen memtables are flushed, so without this, writers could wait for memory forever. Like
  // Freeze, for the commit leader.
  void FreezeLargest(uint64_t active_bytes_max);
  std::shared_ptr<TableCounters> Counters(uint32_t table_id) const;
  // The table's oldest frozen memtable; none if it has no frozen one, or was deleted.
  std::optional<FrozenMemtable> OldestFrozen(uint32_t table_id) const;

  // Records that a job could not read the tablet's rows in the file (UnreadableFiles::Add).
  bool AddUnreadable(uint64_t file_number, const TabletName& tablet, const absl::Status& why);
  void ForgetUnreadable(uint64_t file_number);
  // The files that compactions must not read now.
  FilesByTablet UnreadableNow() const;

  // True if a failure refuses writes, or the disk is full. For writers, which do not take the
  // mutex.
  bool writes_refused() const { return writes_refused_.load(std::memory_order_acquire); }
  void SetWritesRefused(bool refused) { writes_refused_.store(refused, std::memory_order_release); }
  EventCounts& event_counts() { return event_counts_; }

  // The database lock, for callers that check the state and change it in one step. They must hold
  // it for failures(), unreadable(), and all methods whose names end in Locked.
  Mutex& mutex() const ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  JobFailures& failures() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return failures_; }
  UnreadableFiles& unreadable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return unreadable_; }
  const std::shared_ptr<const ReadView>& ViewLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return view_;
  }
  // The tables whose memtables may have data.
  const std::set<uint32_t>& TablesInMemoryLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return tables_in_memory_;
  }
  // The tables of TablesInMemoryLocked that have a family with an `unfenced_through`
  // (cell/family_list.h).
  const std::set<uint32_t>& UnfencedTablesInMemoryLocked() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return unfenced_in_memory_;
  }
  // A memtable that may have data. Ordered by age, so that work under the mutex examines the oldest
  // ones instead of all tables.
  struct AgedMemtable {
    uint64_t since = 0;  // no commit in it is before this sequence
    uint32_t table_id = 0;
    const Memtable* memtable = nullptr;
    friend auto operator<=>(const AgedMemtable&, const AgedMemtable&) = default;
  };
  // The frozen memtables of all tables; `since` is the first sequence.
  const std::set<AgedMemtable>& FrozenByAgeLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return frozen_by_age_;
  }
  // Oldest first; empty for a deleted table. Only Freeze and Install change it.
  const std::deque<FrozenMemtable>& FrozenLocked(uint32_t table_id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True if no table has a frozen memtable and no flush runs. Both are checked: a flush still holds
  // its memtable for a moment after the state has removed it.
  bool IsDrainedLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The running jobs: at most one flush for each table, and one compaction for each tablet.
  bool IsFlushRunningLocked(uint32_t table_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetFlushRunningLocked(uint32_t table_id, bool runs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const std::set<TabletName>& BusyTabletsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return busy_tablets_;
  }
  // Returns false if the tablet is busy already.
  bool MarkBusyLocked(TabletName tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return busy_tablets_.insert(std::move(tablet)).second;
  }
  void EndBusyLocked(const TabletName& tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    busy_tablets_.erase(tablet);
  }

  // Wakes the threads that wait for due work, and the callers that wait for the end of a job.
  void SignalChangeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { changed_.SignalAll(); }
  void WaitForChangeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { changed_.Wait(mutex_); }
  // Returns false if `timeout` passed first.
  bool WaitForChangeLocked(std::chrono::nanoseconds timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return changed_.WaitFor(mutex_, timeout);
  }
  // Wakes background threads after work became due without a change of this state.
  void SignalChange() {
    MutexLock lock(mutex_);
    changed_.SignalAll();
  }

 private:
  // The memtables of a table, and the flush of one of them.
  struct TableMemory {
    std::shared_ptr<Memtable> active;
    int64_t active_commit_time = 0;     // the newest in `active`
    std::deque<FrozenMemtable> frozen;  // oldest first
    bool flush_running = false;
    bool is_written = false;     // `active` was handed to a writer, so it may have data
    uint64_t written_since = 0;  // if is_written: the sequence of the first such batch
    bool is_unfenced = false;    // see UnfencedTablesInMemoryLocked
    std::shared_ptr<TableCounters> counters = std::make_shared<TableCounters>();
    std::shared_ptr<const TabletWrites> tablet_writes;  // of the view's tablets

    void AddTo(TableView* table) const;
  };
  std::vector<uint32_t> TablesToFreeze(uint64_t active_bytes_max) const;
  // A table that an install changes, prepared before the install takes the mutex.
  struct ChangedTable {
    uint32_t table_id = 0;
    std::shared_ptr<const TableState> state;                  // null: it is deleted
    std::vector<SharedSequence<ViewTablet>::Change> changes;  // of its tablets
    SharedSequence<ViewTablet> tablets;                       // with the changes
    std::shared_ptr<const TabletWrites> tablet_writes;        // of `tablets`
  };
  std::vector<ChangedTable> OpenChanges(const ReadView& before, const Version& version);
  ViewTablet OpenTablet(const Tablet& tablet);
  std::shared_ptr<const TabletWrites> TabletWritesOf(uint32_t table_id) const;
  ChangedTable OpenTable(uint32_t table_id, const std::shared_ptr<const TableState>& state,
                         const TableView* before);
  void PublishTableLocked(ChangedTable changed, ReadView* view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropTableLocked(uint32_t table_id, ReadView* view) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteInMemoryLocked(uint32_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static AgedMemtable FrozenAge(uint32_t table_id, const Memtable& frozen) {
    return {.since = frozen.first_sequence(), .table_id = table_id, .memtable = &frozen};
  }
  void AddFrozenLocked(uint32_t table_id, const Memtable& frozen)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveFrozenLocked(uint32_t table_id, const Memtable& frozen)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Call before another memtable becomes active.
  void EndActiveLocked(uint32_t table_id, TableMemory* memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RebuildTableLocked(uint32_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<Memtable> NewMemtable(const FamilyList& families);

  SstableFiles* const files_;
  PinnedViews* const pins_;
  MemoryTracker* const memory_;
  mutable Mutex mutex_;
  CondVar changed_;  // signalled whenever a change may end a wait
  std::map<uint32_t, TableMemory> tables_ ABSL_GUARDED_BY(mutex_);
  std::set<TabletName> busy_tablets_ ABSL_GUARDED_BY(mutex_);  // a compaction runs on them
  UnreadableFiles unreadable_ ABSL_GUARDED_BY(mutex_);
  JobFailures failures_ ABSL_GUARDED_BY(mutex_);
  EventCounts event_counts_;
  std::atomic<bool> writes_refused_{false};
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(mutex_) = std::make_shared<ReadView>();
  // Tables with frozen memtables, and tables whose active memtable was handed to a writer. Such a
  // memtable counts even if it is empty, because the writer may be about to fill it.
  std::set<uint32_t> tables_in_memory_ ABSL_GUARDED_BY(mutex_);
  std::set<uint32_t> unfenced_in_memory_ ABSL_GUARDED_BY(mutex_);
  std::set<AgedMemtable> active_by_age_ ABSL_GUARDED_BY(mutex_);  // those handed to a writer
  std::set<AgedMemtable> frozen_by_age_ ABSL_GUARDED_BY(mutex_);
  uint64_t frozen_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> published_{0};
  std::atomic<uint64_t> memtable_bytes_{0};
};

}  // namespace stele::internal
