// memtable/active_ranges.h: the range tombstones of one column that reach the current timestamp, on the way from new to old.
//
// Path:      the memtable's cursor, which meets the tombstones at their newest timestamp (cell/cell.h).
// Cost:      a tombstone that hides nothing another does not hide as well is left out, so those kept are a staircase: a later start
//            goes with a later commit. What hides at the current timestamp is the last step, and adding one is a binary search.
// Threads:   thread-compatible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memtable/cell_list.h"

namespace stele::internal {

class ActiveRanges {
 public:
  void Clear() { steps_.clear(); }

  // A tombstone whose newest timestamp is the current one.
  void Add(int64_t range_start, const CommitPoint& commit) {
    const auto starts_earlier = [](const Step& step, int64_t start) { return step.range_start < start; };
    const auto from = std::lower_bound(steps_.begin(), steps_.end(), range_start, starts_earlier);
    if (from != steps_.end() && from->range_start == range_start && from->commit > commit) return;
    if (from != steps_.begin() && (from - 1)->commit > commit) return;
    const auto to = std::find_if(from, steps_.end(), [&](const Step& step) { return step.commit > commit; });
    if (from == to) {
      steps_.insert(from, {range_start, commit});
    } else {
      *from = {range_start, commit};
      steps_.erase(from + 1, to);
    }
  }

  // Moves down to `timestamp`; the newest commit that deletes there, or {0, 0}.
  CommitPoint HiddenAt(int64_t timestamp) {
    while (!steps_.empty() && steps_.back().range_start > timestamp) steps_.pop_back();
    return steps_.empty() ? CommitPoint{} : steps_.back().commit;
  }

  // The commit of one that reaches down to timestamp 0, below which there is none; {0, 0}: none does.
  CommitPoint HidesTheRest() const { return !steps_.empty() && steps_.front().range_start == 0 ? steps_.front().commit : CommitPoint{}; }

 private:
  struct Step {
    int64_t range_start;
    CommitPoint commit;
  };
  std::vector<Step> steps_;  // by range_start and by commit, both ascending
};

}  // namespace stele::internal
