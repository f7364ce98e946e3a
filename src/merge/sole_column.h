// merge/sole_column.h: when a read of one column of one row has seen enough of its sources.
//
// Path:      read/source_chain.h says what is asked for; row_merge reads sources newest first and asks here after each.
// Why:       a column that is often written has its newest version, or its tombstone, in memory; that its row is in files too is no reason
//            to read them.
// Rules:     1. Below a source that deletes the family, or all timestamps of the column, nothing of the column is seen.
//            2. Where the newest version alone is asked for, the greatest timestamp over all sources decides (engine rule 13): a source
//               needs no reading when it and all older ones have no timestamp above one that is seen. Of equal timestamps the newer
//               source's version is the one. A version that a newer source's tombstone may hide counts for nothing here.
//            3. Deltas are folded over all sources (engine rule 15): they settle nothing.
// Threads:   plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "cell/cell.h"

namespace stele::internal {

struct SoleColumn {
  uint32_t family = kRowRank;  // kRowRank: more than one column is asked for
  std::string_view qualifier;
  bool newest_alone = false;            // of its versions
  std::vector<int64_t> older_greatest;  // by source: no version of the column in any older source has a greater timestamp; empty: not known

  int64_t OlderGreatest(size_t source) const {
    return source < older_greatest.size() ? older_greatest[source] : std::numeric_limits<int64_t>::max();
  }
};

// Of one row. Sources are shown newest first.
class SoleColumnProgress {
 public:
  // `cells` are the first that the source has of the row, and maybe not all. True: no older source needs to be read.
  bool IsSettledBy(const SoleColumn& column, std::span<const Cell> cells, int64_t older_greatest);

 private:
  int64_t newest_ = std::numeric_limits<int64_t>::min();  // of the versions that are seen
  bool may_hide_ = false;                                 // a source shown may hide versions of older ones
};

}  // namespace stele::internal
