// write/write_admission.h: admits writes, and retries those that the commit leader refused. All
// writes run through Attempt: single rows, batches, bulk writes, conditional writes.
//
// Admission: a write is refused while the database accepts none (state/write_gate.h). It waits for
//            large writes (write/large_writes.h), and is delayed or stopped while background work
//            is behind (write/write_throttle.h).
// Retries:   Attempt is the only retry loop. It repeats a write that the commit leader refused with
//            Aborted, that a pause of its table refused, or that the log had no room for. On a full
//            disk it flushes the memtables before a retry, which releases segments of the log.
// Stop:      the write's stop token and its deadline end every wait.
// Used by:   write/write_path.cc and write/conditional_writes.cc (Attempt).
// Calls:     state/write_gate.h, write/write_throttle.h, write/large_writes.h.
// Threads:   thread-safe; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/memory_tracker.h"
#include "commit/committer.h"
#include "commit/installer.h"
#include "commit/wait_limits.h"
#include "state/engine_options.h"
#include "state/engine_state.h"
#include "state/write_gate.h"
#include "stele/options.h"
#include "views/pinned_views.h"
#include "write/large_writes.h"
#include "write/write_throttle.h"

namespace stele::internal {

// How an attempt runs. Other writes run during an optimistic attempt, and the commit leader refuses
// it if one of them conflicts. No other write runs during an exclusive attempt, so only a pause of
// a table or a lack of disk space can refuse it. It is used after several refusals, so that every
// write completes, and for writes that run alone.
enum class AttemptMode { kOptimistic, kExclusive };

// Returns Cancelled or DeadlineExceeded if no caller waits for the write any more.
absl::Status CheckAwaited(const WriteOptions& options);
// The stop token and the deadline of the write, for waits in lower layers.
WaitLimits LimitsOf(const WriteOptions& options);
// Returns CheckAwaited as a function; null if it cannot fail. `options` must outlive it.
std::function<absl::Status()> AwaitedCheckOf(const WriteOptions& options);

// Marks the error of an attempt that must not be repeated, because its changes were freed.
absl::Status AsFinal(absl::Status status);
bool IsFinal(const absl::Status& status);

// The background work that writes wait for, as an interface: jobs/job_scheduler.h is in a higher
// layer and implements it. Only a write that must wait calls it.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;

  // Waits until `done` returns true because of flushes and spills. `done` is called with the
  // state's mutex held. Fails if a flush or spill fails meanwhile, or the database is closed or
  // poisoned. Returns Cancelled or DeadlineExceeded at the limits.
  virtual absl::Status WaitForMemory(const std::function<bool()>& done,
                                     const WaitLimits& limits) = 0;
  // Without threads: runs due jobs on this thread while `wanted` returns true. Stops at the first
  // failure. Fails if a flush or a spill failed.
  virtual absl::Status StepWhile(const std::function<bool()>& wanted) = 0;
};

class WriteAdmission {
 public:
  // All parts must outlive it. In a read-only database `installer` and `background` are null, and
  // the gate refuses every write.
  struct Parts {
    WriteGate* gate = nullptr;
    EngineState* state = nullptr;
    PinnedViews* pins = nullptr;
    MemoryTracker* memory = nullptr;
    Committer* committer = nullptr;
    Installer* installer = nullptr;
    WriteThrottle* throttle = nullptr;
    BackgroundWork* background = nullptr;
  };
  WriteAdmission(const Parts& parts, const EngineSizes& sizes, bool has_threads);

  // Waits until a write of `bytes` may begin, and calls `attempt`. Calls it again after a refusal
  // (see Retries), and returns Aborted after 1,000 refused attempts. On a full disk the write is
  // admitted only if `frees_space` returns true.
  using AttemptWrite = absl::FunctionRef<absl::Status(AttemptMode mode)>;
  absl::Status Attempt(uint64_t bytes, const WriteOptions& options, AttemptWrite attempt,
                       const WriteGate::FreesSpace& frees_space = nullptr);

  // Delays a write of `bytes` while flushes are behind, and stops it while memory is full. Without
  // threads it runs the jobs.
  absl::Status AwaitMemory(uint64_t bytes, const WriteOptions& options);
  // Delays a call that makes a small file while compactions are behind. It waits as long as a write
  // of file_debt_bytes would, but at most a second. Without threads it runs jobs instead. Returns
  // early if `stop` is requested or the database refuses writes; the caller must check that itself.
  void AwaitFileSlot(const std::stop_token& stop = {});
  LargeWrites& large_writes() { return large_writes_; }
  // True if writes of this size wait for other large writes.
  bool IsLarge(uint64_t bytes) const { return large_writes_.IsLarge(bytes); }

 private:
  WritePressure Pressure() const;
  double DebtPressure() const;
  uint64_t DebtBytesMax() const { return 64 * sizes_.memtable_bytes; }
  // Repeats attempts until one is not refused, or a pause refuses one. Refusals by pauses do not
  // count as attempts: their number is bounded (commit/table_pauses.h).
  absl::Status AttemptUntilPause(uint64_t bytes, const WriteOptions& options, AttemptWrite attempt,
                                 const WriteGate::FreesSpace& frees_space, int* attempts);
  // Delays a write of `bytes` while compactions are behind.
  absl::Status AwaitDebtSlots(uint64_t bytes, const WriteOptions& write,
                              const WriteGate::FreesSpace& frees_space);
  uint64_t WriteMemoryBytes() const { return parts_.memory->PortionOf(sizes_.write_memory_bytes); }
  absl::Status DrainMemtables(const WriteOptions& options);
  // Between two commits: see EngineState::FreezeLargest.
  absl::Status FreezeLargest(uint64_t active_bytes_max, const WriteOptions& options);
  bool ReleasedReserveFor(const absl::Status& refused, const WriteGate::FreesSpace& frees_space);
  bool FlushedToFreeLog(const absl::Status& refused, const WriteOptions& options);
  bool FlushAwaitsSpace() const;

  const Parts parts_;
  const EngineSizes sizes_;
  const bool has_threads_;
  LargeWrites large_writes_;
};

}  // namespace stele::internal
