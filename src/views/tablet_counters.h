// views/tablet_counters.h: counts the reads and writes of each tablet, and carries the counters
// over when tablets split and merge.
//
// Path:      engine_state.cc Install -> CarryCounters; committer -> TabletWrites; reads count at
//            the tablet of their view (read/read_view.h).
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

// Gives each tablet of `after` its counters: those of the tablet with the same range, or its share
// of those that it was made from. If the stack changed in more than dropped rows, the reads that
// compaction uses start at 0. Both cover the same rows, ascending; or `before` is empty.
void CarryCounters(const std::vector<ViewTablet>& before, std::vector<ViewTablet>* after);

// For the thread that applies mutations: finds a row's tablet without holding a view, which would
// keep files.
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
