// db/large_writes.h: how many large writes are on their way at once, and that one larger than a quarter of the budget runs alone
// (engine rule 21).
//
// Path:      write_path -> Enter, before anything of the write is encoded, held until its commit is answered -> memory budget (kWrites).
// Small:     a write below a 64th of the budget passes unless one runs alone; it costs one atomic load.
// Large:     others come in turn while together they are below a quarter of the budget; twice their bytes are charged, as a batch and as
//            what the log writes.
// Alone:     waits for all of these, keeps everyone else out, and is not charged on its way: it may be larger than the whole budget. The
//            memtables are empty when it begins (Engine::DrainMemtables).
// Waits:     for other writers only, each of which goes on without whoever waits here: background work answers them, also with failure.
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "base/memory_budget.h"
#include "base/mutex.h"

namespace stele::internal {

class LargeWrites {
 public:
  explicit LargeWrites(MemoryBudget* budget) : budget_(*budget) {}
  LargeWrites(const LargeWrites&) = delete;
  LargeWrites& operator=(const LargeWrites&) = delete;

  class Hold {
   public:
    // Waits until the write may go on.
    Hold(LargeWrites* writes, uint64_t bytes);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    bool is_alone() const { return is_alone_; }

   private:
    LargeWrites& writes_;
    const uint64_t bytes_;
    const bool is_alone_;
    const bool is_large_;
    MemoryCharge charge_;
  };

  // From here on writes come in turn.
  bool IsLarge(uint64_t bytes) const { return bytes >= large_bytes(); }

 private:
  uint64_t alone_bytes() const { return budget_.budget_bytes() / 4; }  // above: alone
  uint64_t large_bytes() const { return budget_.budget_bytes() / 64; }
  void AwaitSmall();
  void AwaitTurn(uint64_t bytes, bool alone);
  void Leave(uint64_t bytes, bool alone);

  MemoryBudget& budget_;
  std::atomic<bool> runs_alone_{false};  // written under mutex_; relaxed: a small write that slips by is small
  Mutex mutex_;
  CondVar changed_;
  std::deque<const void*> waiting_ ABSL_GUARDED_BY(mutex_);  // large ones, by turn; each by an address of its own
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;               // of large ones on their way
};

}  // namespace stele::internal
