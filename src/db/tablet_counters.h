// db/tablet_counters.h: what is read and written of each tablet, carried from view to view while tablets split and merge.
//
// Path:      engine_state.cc Install -> CarryCounters; committer -> TabletWrites; reads count at the tablet of their view
//            (read/read_view.h).
// Precision: reads of views older than a split or a merge of tablets count at tablets that are gone, and are lost.
// Threads:   CountWrite from any thread; the rest are pure functions, called by the installer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "read/read_view.h"

namespace stele::internal {

// Gives each tablet of `after` its counters: those of the tablet of the same range, or its share of those that it is made of. Where a stack
// is another than before, and has not just lost rows, the reads that compaction goes by begin anew.
void CarryCounters(const std::vector<ViewTablet>& before, std::vector<ViewTablet>* after);

// For whoever applies mutations: finds a row's tablet without holding a view, which would keep files.
class TabletWrites {
 public:
  explicit TabletWrites(const std::vector<ViewTablet>& tablets);
  void CountWrite(std::string_view row_key) const;

 private:
  struct Place {
    std::string start;
    std::shared_ptr<TabletCounters> counters;
  };
  std::vector<Place> places_;  // ascending
};

}  // namespace stele::internal
