// admin/files_without_rows.h: finds the files that have no row in the range of a drop, so that the
// drop leaves them unchanged.
//
// Used by:   admin/table_admin.cc, before it cuts references with Excise (manifest/stack_edits.h).
// Calls:     the cursors of sstable/read/sstable_reader.h.
// Why:       a drop cuts a reference in two. Without this check the files of other rows would be
//            cut, too (docs/decisions/0040-drops-beside-jobs.md).
// Cost:      a seek in each file that the range divides. No lock is held. Files never change, so
//            the result is valid as long as the file exists.
// Errors:    none: a file that cannot be read counts as one that has rows.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/row_ranges.h"
#include "read/read_view.h"

namespace stele::internal {

class FilesWithoutRows {
 public:
  FilesWithoutRows(const TableView& table, const KeyRange& dropped);

  // True if the file has no row of the dropped range within the reference. False for a file that
  // was not checked.
  bool Contains(const SstableReference& reference) const;

 private:
  void Probe(const ViewReference& reference);

  const KeyRange dropped_;
  std::map<uint64_t, std::vector<KeyRange>> empty_;  // by file number: ranges without rows
};

}  // namespace stele::internal
