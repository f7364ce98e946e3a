// compaction/due_changes.h: checks whether a compaction became due since all tablets were examined.
//
// A background thread searches for a compaction after each change. PickCompaction examines all
// tablets. If it finds none, later searches examine only the tablets that changed since then, and
// PickCompaction runs again only if one of them has a compaction due.
//
// Used by:   jobs/job_scheduler.cc.
// Calls:     compaction/picker.h.
// Limits:    a compaction may become due without a change of its tablet: by time, by reads, and by
//            changes of other tablets that share a file. So PickCompaction must run from time to
//            time anyway.
// Threads:   pure, apart from the callbacks of the input, which may read files.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include "compaction/picker.h"

namespace stele::internal {

// A run of PickCompaction that found nothing due, and nothing that waits for disk space.
struct IdleSearch {
  std::shared_ptr<const Version> version;
  std::set<TabletName> busy;
  std::set<uint32_t> busy_tables;
  FilesByTablet unreadable;
};

// Returns true if a compaction is due in a tablet that changed since `last`. A tablet has changed
// if its stack or its table's schema is different, or if it is no longer busy. When the unreadable
// files are different, all tablets with such files count as changed. The input's Version must be a
// result of Apply (edit.h). Adds the number of examined tablets to `examined`: at most three for
// each change of a tablet, and all tablets of a table whose schema changed.
bool IsAnyDueSince(const IdleSearch& last, const PickerInput& input, uint64_t* examined);

}  // namespace stele::internal
