// commit/committer.h: the commit queue. It orders all writes, commits them in groups, checks their
// conditions, and runs exclusive sections.
//
// Used by:   write/write_steps.cc (Commit), admin/table_admin.cc (exclusive sections, pauses),
//            commit/installer.cc (Poison).
// Calls:     the commit leader calls wal/commit_log.h (Append, Sync), memtable/memtable.h (Apply),
//            and state/engine_state.h (Publish). Then it wakes the writers of its group.
// Leader:    writers queue up, and the one at the head leads. It takes the writers behind it (up to
//            kGroupBytesMax) and assigns each batch its sequence. It appends all batches to the log
//            with one write, and syncs if any writer requests it. Then it applies and publishes
//            them, and wakes the others. A conditional batch joins a group only if no earlier batch
//            of the group writes one of its rows.
// Tokens:    a write with a token also writes the token's row, on the condition that no other
//            commit wrote that row since the token was looked up. A group has each token at most
//            once, so that the second of two writes with one token sees the first.
// Refusal:   a batch that a later schema change concerns (commit/table_changes.h), or whose
//            condition no longer holds, is refused with Aborted before it is logged. Its writer
//            builds it again (engine rules 5 and 6).
// Stop:      a stop token or a deadline takes a writer out of the queue, and it has no effect. A
//            writer that is in a leader's group, or has its turn, waits for its result.
// Errors:    a failed append refuses the group and has no effect, also for a later recovery. An
//            append that the log could not undo, a failed sync, or refused memory while applying
//            poisons the database: it acknowledges no more writes (engine rule 20).
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "commit/row_watches.h"
#include "commit/table_changes.h"
#include "commit/table_pauses.h"
#include "commit/wait_limits.h"
#include "state/database_clock.h"
#include "state/engine_state.h"
#include "wal/commit_log.h"

namespace stele::internal {

// A condition that holds if no commit after `sequence` wrote the row, and no change of the table
// after the batch's generation added or removed rows. The watch began before the row was read.
struct RowCondition {
  RowWatches::Watch watch;
  uint64_t sequence = 0;
};

struct CommitRequest {
  std::string batch;  // encoded (mutation/batch.h)
  bool sync = false;
  // The generation of table changes, taken before the schema and the rows were read.
  uint64_t generation = 0;
  bool has_range_delete = false;
  std::vector<RowCondition> conditions;
  std::optional<RowCondition> token;  // for the token's row, which `batch` writes
  size_t token_stamp = 0;             // the position of its timestamp (SetBatchClock)
  uint64_t* committed = nullptr;      // if not null, receives the sequence of the commit
  WaitLimits limits = {};             // they end the wait in the queue
};

class Committer {
 public:
  struct Limits {
    uint64_t memtable_bytes = 0;
    // The limit for all active memtables together; above it the largest are frozen.
    uint64_t active_bytes_max = 0;
    uint64_t log_bytes_max = 0;
  };
  // All arguments must outlive it. With a null `log` (read-only) every commit is refused.
  Committer(EngineState* state, CommitLog* log, DatabaseClock* clock, Limits limits);

  // Commits a batch. Returns Aborted if the batch is stale: the caller must build it again. If a
  // pause refused it (TablesOfPausedWrite), the caller first waits for the end of the pause. Other
  // errors are the result of the write. Inside an exclusive section it commits at once. Returns
  // Cancelled or DeadlineExceeded if the request's limits ended its wait in the queue.
  absl::Status Commit(CommitRequest request);
  // Runs `exclusive_section` like a commit: no other write runs concurrently, and all writes queued
  // before it are done. It may commit. It must not run another exclusive section, and must not take
  // a row latch, since the holder of a latch may be waiting behind it. Returns Cancelled or
  // DeadlineExceeded if `limits` ended the wait in the queue. Then it did not run.
  absl::Status RunExclusive(const std::function<absl::Status()>& exclusive_section,
                            const WaitLimits& limits = {});
  // Runs `exclusive_section` like RunExclusive if nothing is queued and the database is open.
  // Returns true if it ran and returned OK. Never waits, so a thread that writers wait for may call
  // it.
  bool RunExclusiveIfIdle(const std::function<absl::Status()>& exclusive_section);
  // Pauses the writes of one table until ResumeWrites: commits to it are refused. Writes of other
  // tables continue. First waits for the end of an earlier pause of the table, and for writes that
  // were refused before (commit/table_pauses.h). Then runs `exclusive_section` as RunExclusive
  // does, which begins the pause; if it fails, there is no pause.
  absl::Status PauseWrites(uint32_t table_id,
                           const std::function<absl::Status()>& exclusive_section);
  void ResumeWrites(uint32_t table_id) { pauses_.End(table_id); }
  // For writes that wait for the end of a pause.
  TablePauses& pauses() { return pauses_; }
  // Later calls return FailedPrecondition, and so does a PauseWrites that waits to begin.
  // Queued commits still run. Returns when the queue is empty.
  void Close();

  // True on the thread that runs an exclusive section.
  bool IsInSection() const;
  // Returns an error if one of the write's tables is paused (TablePauses::Check). Inside an
  // exclusive section no pause begins, so OK stays true until its end.
  absl::Status CheckPauses(std::vector<uint32_t> tables) const {
    return pauses_.Check(std::move(tables));
  }

  // A writer reads this number before the schema and rows that it uses, so that a change in between
  // is detected.
  uint64_t generation() const { return changes_.generation(); }
  // The caller records a change in an exclusive section, after the change is installed.
  TableChanges& changes() { return changes_; }
  RowWatches& row_watches() { return row_watches_; }
  // The error that poisoned the database: writes return it until the database is reopened. OK if it
  // is not poisoned.
  absl::Status poison() const;
  void Poison(const absl::Status& status);
  // The error of the last append to the log if it found no space; otherwise OK.
  absl::Status append_failure() const;
  // True if poison() or append_failure() is an error. Takes no lock.
  bool has_failure() const { return has_failure_.load(std::memory_order_acquire); }
  // Returns a new sequence and publishes it, for an exclusive section that commits without a batch,
  // such as a bulk load. No memtable and no log record has this sequence.
  uint64_t TakeSequence();
  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  // Commits and exclusive sections that wait or run; may be slightly out of date.
  size_t queued() const;
  // For recovery: the next commit gets `sequence` + 1 or a later one.
  void StartAfter(uint64_t sequence) { last_sequence_ = sequence; }

 private:
  struct Waiter;
  void NoteAppend(const absl::Status& status);
  void Enqueue(Waiter* waiter);
  // `polls`: polls a while before it sleeps.
  void AwaitTurn(Waiter* waiter, bool polls);
  // For a waiter with limits. If a limit ends the wait, takes the waiter out of the queue and sets
  // `done`.
  void SleepWithLimits(Waiter* waiter);
  void Lead(Waiter* leader);
  std::vector<Waiter*> TakeGroup(Waiter* leader);
  void CommitGroup(const std::vector<Waiter*>& group);
  absl::Status CheckPausesOf(const CommitRequest& request) const;
  absl::Status Admit(const CommitRequest& request) const;
  absl::Status CheckTables(const CommitRequest& request) const;
  absl::Status Apply(uint64_t sequence, std::string_view batch, int64_t commit_time);
  void NoteWrites(const std::vector<LogRecord>& records);
  void FreezeFullMemtables();

  EngineState* const state_;
  CommitLog* const log_;
  DatabaseClock* const clock_;
  const Limits limits_;
  TableChanges changes_;
  RowWatches row_watches_;
  TablePauses pauses_;
  // The thread that runs an exclusive section. Relaxed, since only that thread compares it with
  // itself.
  std::atomic<std::thread::id> section_thread_{};
  std::atomic<uint64_t> commits_{0};  // relaxed: may be slightly out of date
  uint64_t last_sequence_ = 0;        // confined to the leader
  std::vector<uint32_t> touched_;     // confined to the leader: tables of the group
  // Confined to the leader: true if background threads were woken to prepare a log segment.
  bool needed_segment_ = false;
  mutable Mutex mutex_;
  std::deque<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status poison_ ABSL_GUARDED_BY(mutex_);
  absl::Status append_failure_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_failure_{false};  // true if one of the two is an error; stored under mutex_
  bool has_append_failure_ = false;       // confined to the leader
};

}  // namespace stele::internal
