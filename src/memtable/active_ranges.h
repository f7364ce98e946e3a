// memtable/active_ranges.h: the range tombstones of one column that cover the current timestamp,
// while a reader moves from new timestamps to old ones.
//
// Used by:   memtable/memtable_cursor.cc, which adds each tombstone at its newest timestamp
//            (cell/cell.h).
// Kept:      a tombstone is dropped if another one hides everything that it hides. So the commits
//            of the kept tombstones ascend with their starts, and the last one is the newest commit
//            that deletes at the current timestamp. A tombstone that starts above the current
//            timestamp no longer hides anything and is removed.
// Cost:      n calls take O(n log n), for any order of the starts and the commits.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "memtable/commit_point.h"

namespace stele::internal {

class ActiveRanges {
 public:
  void Clear() { kept_.clear(); }

  // Adds a tombstone of [range_start, timestamp] and moves down to `timestamp`.
  void Add(int64_t timestamp, int64_t range_start, const CommitPoint& commit) {
    MoveDownTo(timestamp);
    auto next = kept_.upper_bound(range_start);
    if (next != kept_.begin()) {
      const auto before = std::prev(next);
      if (before->second > commit) return;
      if (before->first == range_start) next = before;
    }
    while (next != kept_.end() && next->second < commit) next = kept_.erase(next);
    kept_.emplace_hint(next, range_start, commit);
  }

  // Moves down to `timestamp`. Returns the newest commit that deletes there, or {0, 0}.
  CommitPoint HiddenAt(int64_t timestamp) {
    MoveDownTo(timestamp);
    return kept_.empty() ? CommitPoint{} : kept_.rbegin()->second;
  }

  // Returns the commit of the tombstone that extends down to timestamp 0, the lowest one; {0, 0} if
  // there is none.
  CommitPoint HidesTheRest() const {
    const bool reaches_end = !kept_.empty() && kept_.begin()->first == 0;
    return reaches_end ? kept_.begin()->second : CommitPoint{};
  }

  // The number of tombstones kept.
  size_t size() const { return kept_.size(); }

 private:
  void MoveDownTo(int64_t timestamp) {
    while (!kept_.empty() && kept_.rbegin()->first > timestamp) kept_.erase(std::prev(kept_.end()));
  }

  std::map<int64_t, CommitPoint> kept_;  // by range_start; the commits ascend as well
};

}  // namespace stele::internal
