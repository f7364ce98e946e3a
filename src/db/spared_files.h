// db/spared_files.h: which files a drop leaves as they are, because they have no row of its range.
//
// Path:      schema_change.cc DropRows -> here -> manifest/stack_edits.h Excise.
// Why:       a drop cuts a reference in two. Without this look, the files of other users' rows
//            would be cut, too (docs/decisions/0040-drops-beside-jobs.md).
// Cost:      a seek in each file that the range divides. No lock is held. Files never change, so
//            the answer holds for as long as the file is there.
// Errors:    none: a file that cannot be read counts as one that has rows.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/row_ranges.h"
#include "read/read_view.h"

namespace stele::internal {

class SparedFiles {
 public:
  SparedFiles(const TableView& table, const KeyRange& dropped);

  // The file has no row of the dropped range among the reference's. False if nobody looked.
  bool Contains(const SstableReference& reference) const;

 private:
  void LookInto(const ViewReference& reference);

  const KeyRange dropped_;
  std::map<uint64_t, std::vector<KeyRange>> empty_;  // by file number: where there is no row
};

}  // namespace stele::internal
