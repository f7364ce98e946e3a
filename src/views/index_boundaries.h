// views/index_boundaries.h: estimates where the stored bytes of a tablet's references are, from the
// boundaries in the indexes of open files. No data is read.
//
// Path:      table_stats.cc (samples, sizes), split_point.cc.
// Precision: a part counts where it begins; a part across the edge of a reference counts completely
//            or not at all. Over all references to a file, each of its parts counts at most once.
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

// For one pass over references: scans the index of a file that several tablets share only once.
class StoredParts {
 public:
  // Returns the parts of the reference's file within the reference and `rows`. Ascending; nothing
  // for a file that cannot be opened.
  std::vector<StoredPart> Of(const ViewReference& reference, const KeyRange& rows);

 private:
  // By file number; from the file's first row on.
  std::map<uint64_t, std::vector<SstableReader::Boundary>> boundaries_;
};

}  // namespace stele::internal
