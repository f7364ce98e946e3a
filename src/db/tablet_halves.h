// db/tablet_halves.h: where tablets part in halves, for PickerInput::halve: looked up in the indexes of their files, and remembered.
//
// Cost:      a tablet is looked at once for each stack it has: one that is a single giant row is not asked for its halves again and again.
// Threads:   thread-safe; files are looked at without the lock.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "compaction/picker.h"
#include "read/read_view.h"

namespace stele::internal {

// By what its files hold; memtables do not count. None where all of it begins at one row.
std::optional<TabletHalves> HalvesOf(const ViewTablet& tablet);

class RememberedHalves {
 public:
  std::optional<TabletHalves> Of(const ReadView& view, const TabletName& name);

 private:
  struct Known {
    std::vector<SstableReference> stack;  // that was looked at
    std::optional<TabletHalves> halves;
  };
  Mutex mutex_;
  std::map<TabletName, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
