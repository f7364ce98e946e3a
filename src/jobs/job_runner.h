// jobs/job_runner.h: runs one flush or one compaction from start to install: collects its inputs,
// runs the pure job, and installs the edit.
//
// Used by:   jobs/job_scheduler.cc; admin/table_admin.cc (CompactTable).
// Calls:     jobs/flush_job.h or jobs/compaction_job.h, then commit/installer.h.
// Errors:    those of the job and the install. Aborted: the table was deleted or the inputs were
//            replaced meanwhile; the result is discarded, and the job is picked again if it is
//            still due. Cancelled: stopped. After a schema change, or after rows were dropped, the
//            result is installed without those rows (docs/decisions/0040-drops-beside-jobs.md). A
//            compaction over several tablets is installed by one edit or discarded completely.
// Threads:   called without locks; at most one flush at a time for a table, and one compaction for
//            a tablet (the caller ensures it).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "commit/committer.h"
#include "commit/installer.h"
#include "compaction/compaction_pick.h"
#include "jobs/job_context.h"
#include "read/read_view.h"
#include "state/database_clock.h"
#include "state/engine_state.h"
#include "state/events.h"
#include "state/write_gate.h"
#include "write/write_throttle.h"

namespace stele::internal {

// Counters since open. Relaxed: no other memory access depends on them.
struct JobCounters {
  std::atomic<uint64_t> flushes{0};
  std::atomic<uint64_t> compactions{0};  // those that read and wrote: the sum of the next four
  std::atomic<uint64_t> merging_compactions{0};
  std::atomic<uint64_t> major_compactions{0};
  std::atomic<uint64_t> recompressions{0};
  std::atomic<uint64_t> small_file_compactions{0};
  std::atomic<uint64_t> metadata_merges{0};
  std::atomic<uint64_t> files_dropped{0};  // references dropped without reading them
  std::atomic<uint64_t> bytes_flushed{0};
  std::atomic<uint64_t> bytes_compacted{0};
  std::atomic<uint64_t> bulk_loads{0};
  std::atomic<uint64_t> bytes_loaded{0};
  std::atomic<uint64_t> memtable_spills{0};
  std::atomic<uint64_t> bytes_spilled{0};
  std::atomic<uint64_t> tablet_splits{0};
  std::atomic<uint64_t> tablet_merges{0};
  std::atomic<uint64_t> excisions{0};
  std::atomic<uint64_t> jobs_discarded{0};
  std::atomic<uint64_t> full_searches{0};             // searches for a compaction over all tablets
  std::atomic<uint64_t> changed_tablets_examined{0};  // by the other searches
};

// Returns the part of `view` that the job of a pick needs: the table's state and the pick's files.
// A long job must not keep memtables and other files alive.
std::shared_ptr<const ReadView> JobView(const ReadView& view, const CompactionPick& pick);

// A view, and a time at which the table's schema in it was in force. A job takes both together: the
// clock may go back, and the GC rules may change, between two calls.
struct TimedView {
  std::shared_ptr<const ReadView> view;
  int64_t now = 0;  // the collection time, read after the view was taken
};
TimedView TakeTimedView(const EngineState& state, DatabaseClock* clock, uint32_t table_id);

class JobRunner {
 public:
  // All parts must outlive it.
  struct Parts {
    JobContext context;
    EngineState* state = nullptr;
    Committer* committer = nullptr;
    Installer* installer = nullptr;
    DatabaseClock* clock = nullptr;
    Events* events = nullptr;
    const WriteGate* gate = nullptr;
    WriteThrottle* throttle = nullptr;
  };
  explicit JobRunner(const Parts& parts) : parts_(parts) {}

  // Flushes the table's oldest frozen memtable. Also returns OK if the table is deleted. If `stop`
  // is set, the job stops with Cancelled; `stop` may be null.
  absl::Status FlushOldestMemtable(uint32_t table_id, const std::atomic<bool>* stop);

  // `view` must be the view of the pick, or its JobView. The job uses that view because the pick
  // names positions, which a later flush changes, and because a schema change may make the pick
  // invalid. If `stop` is set, the job stops with Cancelled.
  absl::Status RunPick(const std::shared_ptr<const ReadView>& view, const CompactionPick& pick,
                       const std::atomic<bool>* stop);

  const JobContext& context() const { return parts_.context; }
  JobCounters& counters() { return counters_; }

 private:
  const Parts parts_;
  JobCounters counters_;
};

}  // namespace stele::internal
