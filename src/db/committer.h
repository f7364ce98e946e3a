// db/committer.h: the commit queue: one order for all writes, group commit with a leader, conditions, and exclusive sections.
//
// Path:      table writes -> Commit -> (leader) log append, sync if asked, memtables, publish -> ack.
// Leader:    writers queue up; the one at the head leads: it takes what waits behind it (up to kGroupBytesMax), gives each batch its
//            sequence, appends all with one write, syncs if any asks for it, applies, publishes and wakes the others. A conditional batch
//            joins a group that leaves its rows alone.
// Tokens:    admitted before the batch is logged and added before it is published; a group has a token once, so that of two writes under
//            one token the second meets the first (engine rule 2).
// Refusal:   a batch made under an older schema generation, or whose condition no longer holds, is refused with Aborted before it is
//            logged; its writer makes it anew (engine rules 5 and 6).
// Errors:    a failed append refuses the group and changes nothing, also for a later recovery; one that the log could not undo, a failed
//            sync, or memory refused half-way through a memtable, poisons: nothing is acked any more (engine rule 20).
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "db/database_clock.h"
#include "db/engine_state.h"
#include "db/token_table.h"
#include "wal/commit_log.h"

namespace stele::internal {

// Holds as long as the row was not written after `sequence`, judged in the memtable that was active then.
struct RowCondition {
  uint32_t table_id = 0;
  std::string row_key;
  std::shared_ptr<const Memtable> active;  // held, so that no later memtable can stand at its address
  uint64_t sequence = 0;
};

struct CommitRequest {
  std::string batch;  // encoded (mutation/batch.h)
  bool sync = false;
  uint64_t schema_generation = 0;
  std::vector<RowCondition> conditions;
  TokenUse token;  // what `batch` says
};

class Committer {
 public:
  struct Limits {
    uint64_t memtable_bytes = 0;
    uint64_t active_bytes_max = 0;  // of all active memtables together: above, the largest are frozen
    uint64_t log_bytes_max = 0;
  };
  // What it is given outlives it. `log` may be null (read-only): every commit is then refused.
  Committer(EngineState* state, CommitLog* log, DatabaseClock* clock, TokenTable* tokens, Limits limits);

  // Aborted: stale, make it again. Other errors are the write's answer.
  absl::Status Commit(CommitRequest request);
  // Runs `section` as if it were a commit of its own: no other write happens beside it, and everything queued before it is done.
  absl::Status RunExclusive(const std::function<absl::Status()>& section);
  // Later calls, and those that wait, answer FailedPrecondition. Returns when no leader is at work.
  void Close();

  uint64_t schema_generation() const { return schema_generation_.load(std::memory_order_acquire); }
  // In an exclusive section, once a schema change is installed. Pairs with the acquire above.
  void RaiseSchemaGeneration() { schema_generation_.fetch_add(1, std::memory_order_release); }
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
  absl::Status Admit(const Waiter& waiter) const;
  absl::Status AdmitToken(const TokenUse& token, int64_t commit_time);
  absl::Status Apply(uint64_t sequence, std::string_view batch, int64_t commit_time);
  void FreezeWhatIsFull();

  EngineState* const state_;
  CommitLog* const log_;
  DatabaseClock* const clock_;
  TokenTable* const tokens_;
  const Limits limits_;
  std::atomic<uint64_t> schema_generation_{1};
  std::atomic<uint64_t> commits_{0};  // relaxed: a figure
  uint64_t last_sequence_ = 0;        // confined to the leader
  std::vector<uint32_t> touched_;     // confined to the leader: tables of the group
  uint64_t token_bytes_ = 0;          // confined to the leader: of the group's tokens, admitted and not yet added
  bool needed_segment_ = false;       // confined to the leader: background threads were told to prepare a log segment
  mutable Mutex mutex_;
  std::deque<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status poison_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
