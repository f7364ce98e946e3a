// views/tablet_counters.h: counts the reads and writes of each tablet, and carries the counters
// over when tablets split and merge.
//
// Used by:   state/engine_state.cc calls CarryCounters in Install. commit/committer.cc calls
//            CountWrite. Reads count at the tablet of their view (read/read_view.h).
// Precision: reads in views older than a split or a merge of tablets are counted for tablets that
//            no longer exist, and are lost.
// Threads:   CountWrite from any thread; the others are pure functions, called by the installer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "read/read_view.h"

namespace stele::internal {

// Sets the counters of each tablet of `after`: those of the tablet with the same range, or a share
// of the counters of the tablets that it was made from. Unless the stack only lost rows, the reads
// that compaction uses start at 0. `before` and `after` must cover the same rows, ascending, or
// `before` must be empty.
void CarryCounters(const std::vector<ViewTablet>& before, std::vector<ViewTablet>* after);

// Counts writes by tablet, for the thread that applies mutations. It does not hold a view, which
// would keep files.
class TabletWrites {
 public:
  // Follows the `changes` of the tablets.
  void Follow(const std::vector<SharedSequence<ViewTablet>::Change>& changes);
  void CountWrite(std::string_view row_key) const;

 private:
  struct Place {
    std::string start;
    std::shared_ptr<TabletCounters> counters;
  };
  SharedSequence<Place> places_;  // ascending
};

}  // namespace stele::internal
