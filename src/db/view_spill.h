// db/view_spill.h: writes a memtable that only views hold to a private SSTable, as each view sees it, and gives the views that instead.
//
// Path:      background -> here -> compaction/run_writer.h; then pinned_views -> snapshots and scans read the file in the memtable's place.
// Rules:     engine rule 16. Everything the view sees of the memtable is written, tombstones too; nothing is collected, so that reads
//            without GC repeat exactly as well. The file is in no edit: it goes with the last view that shows it, or at the next Open.
// Errors:    those of the file system, Cancelled when stopped; views that were not given the file keep the memtable, and no file stays.
// Threads:   without locks; one call at a time. A file is removed on the thread that lets its last view go.
#pragma once

#include "absl/status/status.h"
#include "db/jobs.h"

namespace stele::internal {

class Engine;

// Writes the memtable that is due, for every pinned view that holds it. OK also when none is due any more.
absl::Status SpillPinnedMemtable(Engine& engine, JobCounters& counters);

}  // namespace stele::internal
