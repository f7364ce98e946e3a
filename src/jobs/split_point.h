// jobs/split_point.h: finds the row that divides a tablet's bytes in half, and caches it. It uses
// the indexes of the tablet's files. PickerInput::find_split_point calls it.
//
// Cost:      computed once for each stack of a tablet.
// Threads:   thread-safe; files are accessed without the lock.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_pick.h"
#include "read/read_view.h"

namespace stele::internal {

// Returns the row that divides the bytes in half, without memtables. Returns nullopt if all bytes
// begin at one row.
std::optional<SplitPoint> SplitPointOf(const ViewTablet& tablet);

class SplitPointCache {
 public:
  std::optional<SplitPoint> Of(const ReadView& view, const TabletName& name);

 private:
  struct Entry {
    std::vector<SstableReference> stack;  // that was examined
    std::optional<SplitPoint> split_point;
  };
  Mutex mutex_;
  std::map<TabletName, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
