// jobs/memtable_spill.h: writes a memtable that only views hold to private SSTables, and switches
// the views to these files.
//
// Used by:   jobs/job_scheduler.cc.
// Calls:     jobs/sstable_writer.h, then views/pinned_views.h (Replace). After that snapshots and
//            scans read the file instead of the memtable.
// Rules:     engine rule 16. A file has everything that a view sees of the memtable, tombstones and
//            garbage included, so that reads without GC return the same, too. No edit references
//            the file: it is removed with the last view that shows it, or at the next Open.
// Errors:    those of the file system, Cancelled when stopped. Views that were not switched keep
//            the memtable, and no file is left.
// Threads:   called without locks; one call at a time. A file is removed on the thread that
//            destroys its last view.
#pragma once

#include "absl/status/status.h"
#include "jobs/job_context.h"
#include "jobs/job_runner.h"
#include "sstable/read/block_cache.h"
#include "state/events.h"
#include "state/open_check.h"
#include "views/pinned_views.h"

namespace stele::internal {

// All parts must outlive the views that show the spilled files.
struct MemtableSpillParts {
  JobContext context;
  PinnedViews* pins = nullptr;
  BlockCache* cache = nullptr;
  const OpenCheck* open = nullptr;
  Events* events = nullptr;
  JobCounters* counters = nullptr;
};

// Spills the memtable that is due, for every pinned view that holds it. Returns OK also if none is
// due any more. If `stop` is set, the spill stops with Cancelled.
absl::Status SpillPinnedMemtable(const MemtableSpillParts& parts, const std::atomic<bool>* stop);

}  // namespace stele::internal
