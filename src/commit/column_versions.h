// commit/column_versions.h: the timestamps of a column's versions, kept up to date by the
// operations of each commit.
//
// The fence of a range delete depends on the ordinal of each version (write/gc_fence.h). Reading
// the column for each delete would read all earlier deletes of the column, too.
//
// Holds:     all versions of the column that no tombstone hides, down to the first that was garbage
//            when they were read. Older ones were garbage as well, and remain so: only a range
//            delete lowers ordinals, and its fence deletes the garbage first. A compaction may have
//            removed some of the garbage meanwhile. It removes only versions older than those that
//            it keeps, so the ordinals of the kept versions do not change.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gc/retention.h"
#include "mutation/batch.h"

namespace stele::internal {

class ColumnVersions {
 public:
  ColumnVersions() = default;
  // `newest_first`: the versions down to the first one that the rule collected at `time`.
  explicit ColumnVersions(std::vector<int64_t> newest_first, int64_t time = INT64_MIN);

  // Applies an operation on the column, its row or its family.
  void Apply(const BatchOp& op);
  // Returns the timestamp above the newest version that the rule collects at `now`; 0 if it
  // collects none.
  int64_t FloorUnder(const Retention& retention, int64_t now) const;
  size_t count() const { return oldest_first_.size(); }
  // FloorUnder is valid only for this time or later.
  int64_t time() const { return time_; }

 private:
  // Distinct. Most new versions are the newest, so most insertions are at the end.
  std::vector<int64_t> oldest_first_;
  int64_t time_ = INT64_MIN;
};

}  // namespace stele::internal
