// trace_info/top_rows.h: finds the ten rows with the most operations.
//
// Rows are counted in a table of 65,536 places. If a trace has more rows, the count of a row may be
// too small, but never too large.
//
// Threads:   confined to one thread.
// Memory:    6 MiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/trace/space_saving.h"
#include "stele/lab/trace.h"

namespace stele::internal::lab {

class TopRows {
 public:
  void Add(std::string_view table, std::string_view row);
  // Returns up to ten rows. Those with the most operations come first, then they are sorted by
  // table and row.
  std::vector<stele::lab::TraceInfo::Row> Take();

 private:
  struct Top {
    uint64_t hash = 0;
    stele::lab::TraceInfo::Row row = {};
  };

  SpaceSaving counts_{65'536};
  std::vector<Top> tops_;
};

}  // namespace stele::internal::lab
