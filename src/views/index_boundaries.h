// views/index_boundaries.h: estimates where the stored bytes of a tablet's references are, from the
// boundaries in the indexes of open files. No data is read.
//
// Used by:   views/table_stats.cc (samples, sizes), jobs/split_point.cc, jobs/dead_sample.cc.
// Precision: a part belongs to the reference in which it begins, even if it extends beyond the
//            reference's end. Over all references to a file, each of its parts counts at most once.
// Threads:   thread-compatible. A file that is not open yet is opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/row_ranges.h"
#include "read/read_view.h"

namespace stele::internal {

struct StoredPart {
  std::string row_key;
  uint64_t bytes = 0;  // from here to the next part of the same source
};

// The parts of files, for one pass over references. If several tablets share a file, its index is
// scanned only once.
class StoredParts {
 public:
  // Returns the parts of the reference's file that are within the reference and `rows`, ascending;
  // none if the file cannot be opened.
  std::vector<StoredPart> Of(const ViewReference& reference, const KeyRange& rows);

 private:
  // By file number; from the file's first row on.
  std::map<uint64_t, std::vector<SstableReader::Boundary>> boundaries_;
};

}  // namespace stele::internal
