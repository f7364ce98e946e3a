// merge/sole_column.h: decides when a read of one column of one row needs no further sources.
//
// Used by:   read/chain_options.cc sets the requested column. merge/row_merge.cc reads sources
//            newest first and calls this after each.
// Why:       the newest version of a column that is written often, or its tombstone, is in memory.
//            The row's files need not be read then. Rules:
//            1. Below a source that deletes the family, or all timestamps of the column, no cell of
//               the column is visible.
//            2. If only the newest version is requested, the greatest timestamp over all sources
//               decides (engine rule 13). A source need not be read if neither it nor any older
//               source has a timestamp above that of a visible version. Of equal timestamps the
//               newer source's version counts. A version that a newer source's tombstone may hide
//               is ignored.
//            3. Deltas are folded over all sources (engine rule 15), so a delta never completes the
//               read.
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
  uint32_t family = kRowFamily;  // kRowFamily: more than one column is requested
  std::string_view qualifier;
  bool latest_only = false;  // only the newest version is requested
  // By source: no version of the column in older sources has a greater timestamp. Empty: unknown.
  std::vector<int64_t> older_greatest;

  int64_t OlderGreatest(size_t source) const {
    return source < older_greatest.size() ? older_greatest[source]
                                          : std::numeric_limits<int64_t>::max();
  }
};

// For one row. Sources are passed newest first.
class SoleColumnProgress {
 public:
  // `cells` are the source's first cells of the row. Returns true if no older source needs to be
  // read.
  bool IsDecidedBy(const SoleColumn& column, std::span<const Cell> cells, int64_t older_greatest);

 private:
  int64_t newest_ = std::numeric_limits<int64_t>::min();  // of the visible versions
  // A source that was passed may hide versions of older ones.
  bool may_hide_ = false;
};

}  // namespace stele::internal
