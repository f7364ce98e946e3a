// read/row_sources.h: what of a tablet has one row, found by ranges, blooms and the memtables' own search.
//
// Path:      row_lookup, source_chain -> here -> memtable, sstable. Most references have nothing of a row; what one file alone has, and
//            plainly (sstable/plain_row.h), takes no chain of cursors.
// Errors:    that of a file that cannot be opened or read.
// Threads:   confined; keeps nothing alive: table, tablet and options outlive it and its cursors.
#pragma once

#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "read/chain_parts.h"
#include "sstable/plain_row.h"

namespace stele::internal {

class RowSources {
 public:
  // options.only_row is the row.
  RowSources(const TableView& table, const ChainOptions& options) : table_(table), options_(options) {}

  // Once, first.
  absl::Status Find(const ViewTablet& tablet);
  // Fills `row` where the answer is kPlain; of kOther Merge tells more.
  absl::StatusOr<RowForm> ReadPlain(PlainRow* row) const;
  // Null when there is no source.
  std::unique_ptr<CellCursor> Merge() const;

 private:
  SoleColumn SoleColumnOf(size_t source_count) const;

  const TableView& table_;
  const ChainOptions& options_;
  absl::InlinedVector<const Memtable*, 2> memtables_;  // newest first, both
  absl::InlinedVector<OpenedFile, 2> files_;
};

}  // namespace stele::internal
