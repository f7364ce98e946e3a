// commit/table_pauses.h: the pauses of tables, and the order between pauses and the writes that
// they refuse. During a pause no write of the table commits.
//
// Order:     pauses and claims get ascending numbers. A write that a pause refused claims all its
//            tables, even those that are not paused, until it is done: later pauses of them wait
//            for the write. A pause of a table begins only when no claim of the table has a lower
//            number. A pause gets its number when it is requested. If another pause of the table
//            ends before it begins, it gets a new number.
// Bounds:    after its claim, a write waits for at most one pause of each of its tables. A pause
//            waits for the claims that are older, and later ones do not delay it.
// Deadlock:  impossible, because a write waits for present pauses only, and a present pause waits
//            for no write. A write waits without a row latch and without a permit as a large write.
// Used by:   commit/committer.cc (PauseWrites, CommitGroup).
// Why:       docs/decisions/0045-what-holds-up-writers.md.
// Threads:   thread-safe; a Claim is for one thread. The waits block.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"

namespace stele::internal {

// Returns the tables of the write that a pause refused with this status. Empty if no pause did.
std::vector<uint32_t> TablesOfPausedWrite(const absl::Status& refused);

class TablePauses {
 public:
  TablePauses() = default;
  TablePauses(const TablePauses&) = delete;
  TablePauses& operator=(const TablePauses&) = delete;

  // Registers a request for a pause, and returns its number.
  uint64_t Request();
  // Waits until MayBegin would return true, or until Close.
  void AwaitMayBegin(uint32_t table_id, uint64_t request);
  bool MayBegin(uint32_t table_id, uint64_t request) const;
  // Only in the commit order, after MayBegin returned true. Each Begin needs an End.
  void Begin(uint32_t table_id);
  void End(uint32_t table_id);

  // True if a table is paused. For the commit leader; takes no lock.
  bool HasPauses() const { return pause_count_.load(std::memory_order_relaxed) > 0; }
  // Returns Aborted if one of the write's tables is paused: TablesOfPausedWrite returns all of
  // them. `tables` may contain a table several times.
  absl::Status Check(std::vector<uint32_t> tables) const;

  // The claim of one write. It ends when this object is destroyed.
  class Claim {
   public:
    explicit Claim(TablePauses* pauses) : pauses_(*pauses) {}
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    // Call when a pause refused the write. Tables that are claimed keep their number.
    void Add(const std::vector<uint32_t>& tables);
    // Waits until none of the claimed tables is paused, for about `timeout` at most. Returns true
    // if none is, and after Close.
    bool AwaitEnd(std::chrono::nanoseconds timeout);

   private:
    TablePauses& pauses_;
    uint64_t number_ = 0;  // 0: no table is claimed
    std::set<uint32_t> tables_;
  };

  // Ends all waits, also later ones.
  void Close();

 private:
  struct Claims {
    std::set<uint64_t> numbers;
    uint64_t pause_ended = 0;  // the number that waiting pauses got when the last pause ended
  };
  bool MayBeginLocked(uint32_t table_id, uint64_t request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;  // a pause or a claim ended
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint32_t> paused_ ABSL_GUARDED_BY(mutex_);
  // By table, if it has a claim. Without a claim, the number of a pause does not matter.
  std::map<uint32_t, Claims> claims_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // The size of paused_. Relaxed, because only the leader reads it, and only the leader adds.
  std::atomic<size_t> pause_count_{0};
};

}  // namespace stele::internal
