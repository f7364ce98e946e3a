// db/jobs.h: one flush or one compaction from start to installed: picks up its inputs, runs the pure job, installs the edit.
//
// Path:      background -> here -> flush/flush_job.h, compaction/compaction_job.h -> installer.
// Errors:    those of the job and the install. Aborted: the table was deleted or the inputs were
//            replaced meanwhile; the work is thrown away and will be picked again if still due.
//            Cancelled: stopped. A change of the schema is no such change, and neither are rows that
//            were dropped: the result is installed without them (docs/decisions/0040-drops-beside-jobs.md).
//            A compaction over several tablets is installed by one edit or thrown away whole.
// Threads:   called without locks; for one table one flush at a time, for one tablet one compaction (the caller sees to it).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "compaction/picker.h"
#include "read/read_view.h"

namespace stele::internal {

class Engine;

// Since open; relaxed: figures, they order nothing.
struct JobCounters {
  std::atomic<uint64_t> flushes{0};
  std::atomic<uint64_t> compactions{0};  // that read and wrote: the next four together
  std::atomic<uint64_t> merging_compactions{0};
  std::atomic<uint64_t> major_compactions{0};
  std::atomic<uint64_t> settlings{0};
  std::atomic<uint64_t> gatherings{0};
  std::atomic<uint64_t> moves{0};
  std::atomic<uint64_t> files_dropped{0};  // references that went unread
  std::atomic<uint64_t> bytes_flushed{0};
  std::atomic<uint64_t> bytes_compacted{0};
  std::atomic<uint64_t> bulk_loads{0};
  std::atomic<uint64_t> bytes_loaded{0};
  std::atomic<uint64_t> view_spills{0};
  std::atomic<uint64_t> bytes_spilled{0};
  std::atomic<uint64_t> tablet_splits{0};
  std::atomic<uint64_t> tablet_merges{0};
  std::atomic<uint64_t> excisions{0};
  std::atomic<uint64_t> jobs_discarded{0};
};

// Flushes the table's oldest frozen memtable. OK also when the table is gone.
absl::Status FlushOldestMemtable(Engine& engine, uint32_t table_id, JobCounters& counters);

// What the job of a choice made from `view` goes by: the table's state and the choice's files, but no memtable and no other file, which a
// long job would keep.
std::shared_ptr<const ReadView> JobView(const ReadView& view, const Choice& choice);

// `view`: what the choice was made from, or its JobView. A flush that is installed meanwhile moves the positions that the choice names, and
// a schema change may make it wrong, so the job goes by that view. `stop` set: gives up with Cancelled.
absl::Status RunChoice(Engine& engine, const std::shared_ptr<const ReadView>& view, const Choice& choice, const std::atomic<bool>* stop,
                       JobCounters& counters);

}  // namespace stele::internal
