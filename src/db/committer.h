// db/committer.h: the commit queue: one order for all writes, group commit with a leader, conditions, and exclusive sections.
//
// Path:      table writes -> Commit -> (leader) log append, sync if asked, memtables, publish -> ack.
// Leader:    writers queue up; the one at the head leads: it takes what waits behind it (up to kGroupBytesMax), gives each batch its
//            sequence, appends all with one write, syncs if any asks for it, applies, publishes and wakes the others. A conditional batch
//            joins a group that leaves its rows alone.
// Tokens:    a write under a token also writes the token's row, on condition that no other commit wrote it since the token was looked up.
//            A group has a token once, so that of two writes under one token the second meets the first.
// Refusal:   a batch that a later schema change concerns (db/table_changes.h), or whose condition no longer holds, is refused with
//            Aborted before it is logged. Its writer makes it again (engine rules 5 and 6).
// Errors:    a failed append refuses the group and changes nothing, also for a later recovery; one that the log could not undo, a failed
//            sync, or memory refused half-way through a memtable, poisons: nothing is acked any more (engine rule 20).
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "db/database_clock.h"
#include "db/engine_state.h"
#include "db/row_stamps.h"
#include "db/table_changes.h"
#include "wal/commit_log.h"

namespace stele::internal {

// Holds as long as no commit after `sequence` wrote the row, and no change of the table after the batch's generation took or gave rows.
struct RowCondition {
  uint32_t table_id = 0;
  std::string row_key;
  uint64_t sequence = 0;
};

struct CommitRequest {
  std::string batch;  // encoded (mutation/batch.h)
  bool sync = false;
  uint64_t generation = 0;  // of the tables' changes, taken before the schema and the rows were read
  bool has_ranged_delete = false;
  std::vector<RowCondition> conditions;
  std::optional<RowCondition> token;  // of the token's row, which `batch` writes
  size_t token_stamp = 0;             // the place of its timestamp (SetBatchClock)
};

class Committer {
 public:
  struct Limits {
    uint64_t memtable_bytes = 0;
    uint64_t active_bytes_max = 0;  // of all active memtables together: above, the largest are frozen
    uint64_t log_bytes_max = 0;
  };
  // What it is given outlives it. `log` may be null (read-only): every commit is then refused.
  Committer(EngineState* state, CommitLog* log, DatabaseClock* clock, Limits limits);

  // Aborted: stale, make it again. Other errors are the write's answer. Called within an exclusive section, it commits at once.
  absl::Status Commit(CommitRequest request);
  // Runs `section` as if it were a commit of its own: no other write happens beside it, and everything queued before it is done. The
  // section may commit. It may not run another section, and it takes no row latch: whoever holds one may be waiting behind it.
  absl::Status RunExclusive(const std::function<absl::Status()>& section);
  // From here on no write of the table is committed until Release; such writes wait, those of other
  // tables go on. Waits while another hold of the table lasts, and for the writers that waited for
  // that one. `section` runs as an exclusive section at the hold's beginning.
  absl::Status Hold(uint32_t table_id, const std::function<absl::Status()>& section);
  void Release(uint32_t table_id);
  // Returns when every hold that lasts now is over. For who is going to run an exclusive section that
  // commits: it cannot wait there, and is refused.
  void AwaitReleases();
  // Later calls, and those that wait, answer FailedPrecondition. Returns when no leader is at work.
  void Close();

  // What a write goes by is read after this number, so that a change in between is noticed.
  uint64_t generation() const { return changes_.generation(); }
  // To be changed in an exclusive section, once the change is installed.
  TableChanges& changes() { return changes_; }
  // The first error that poisoned the database; OK while all is well.
  absl::Status poison() const;
  void Poison(const absl::Status& status);
  // For an exclusive section that is a commit of its own without a batch: nothing else gets this sequence, and it is published, which shows
  // nothing by itself. Not in the log.
  uint64_t TakeSequence();
  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  // Commits and sections that wait or run; a moment old.
  size_t queued() const;
  // For recovery: the next commit is `sequence` + 1 or later.
  void StartAfter(uint64_t sequence) { last_sequence_ = sequence; }

 private:
  struct Waiter;
  void Enqueue(Waiter* waiter);
  void Lead(Waiter* leader);
  std::vector<Waiter*> TakeGroup(Waiter* leader);
  void CommitGroup(const std::vector<Waiter*>& group);
  void AwaitRelease(uint32_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<uint32_t> HeldTableOf(const CommitRequest& request) const;
  absl::Status Admit(const CommitRequest& request) const;
  absl::Status CheckTables(const CommitRequest& request) const;
  absl::Status Apply(uint64_t sequence, std::string_view batch, int64_t commit_time);
  void FreezeWhatIsFull();

  EngineState* const state_;
  CommitLog* const log_;
  DatabaseClock* const clock_;
  const Limits limits_;
  TableChanges changes_;
  RowStamps stamps_;                               // confined to the leader
  std::atomic<std::thread::id> section_thread_{};  // runs an exclusive section; of interest to that thread alone, so relaxed
  std::atomic<uint64_t> commits_{0};               // relaxed: a figure
  uint64_t last_sequence_ = 0;                     // confined to the leader
  std::vector<uint32_t> touched_;                  // confined to the leader: tables of the group
  bool needed_segment_ = false;                    // confined to the leader: background threads were told to prepare a log segment
  mutable Mutex mutex_;
  std::deque<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);
  // Changed by the leader and by Release. A hold begins in the commit order, so the leader alone may
  // add one.
  struct TableHold {
    uint64_t number = 0;  // of all holds, ascending
    size_t waiting = 0;   // writers
  };
  std::map<uint32_t, TableHold> holds_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> hold_count_{0};  // of holds_; relaxed: the leader's own additions are known to it
  uint64_t last_hold_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t returning_ ABSL_GUARDED_BY(mutex_) = 0;  // writers that a release let go and that are not queued yet
  CondVar released_;                              // signalled when a hold is over, and when returning_ comes to 0
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status poison_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
