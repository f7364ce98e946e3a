// db/stored_parts.h: where the stored bytes of a tablet's references lie, by the boundaries in the files' indexes; nothing is read but what
// an open file keeps in memory.
//
// Path:      table_stats.cc (samples, sizes), tablet_halves.cc.
// Precision: a part counts where it begins: of what lies across the edge of a reference, all or nothing is said to be its own. Over all
//            references that show a file each of its parts counts at most once.
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

// For one walk over references: the index of a file that tablets share is gone through once.
class StoredParts {
 public:
  // What the reference shows of its file, within `rows`. Ascending; nothing of a file that cannot be opened.
  std::vector<StoredPart> Of(const ViewReference& reference, const KeyRange& rows);

 private:
  std::map<uint64_t, std::vector<SstableReader::Boundary>> boundaries_;  // by file number; from the file's first row on
};

}  // namespace stele::internal
