// read/source_chain.h: the chain of cursors over one tablet: memtables and stack -> merge ->
// retention; and for one row, the sources that may hold it.
//
// Path:      scan_cursor, GC fences -> OpenChain; row_lookup -> RowSources; both -> memtable,
//            sstable, merge.
// Sources:   each memtable, and each run of the stack (manifest/runs.h): references that do not
//            overlap are one source, and only the file whose rows are being read is open. For one
//            row: the sources that ranges, bloom filters and the memtables' search do not rule out.
//            Most files have nothing of a row. A row that one file alone has, and that is plain
//            (sstable/read/plain_row.h), needs no chain.
// Errors:    that of a file that could not be opened and whose rows are asked for; within a run it
//            is returned when the cursor reaches that file.
// Threads:   confined to one thread. Nothing is kept alive: table, tablet and options must outlive
//            RowSources and all cursors.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "read/chain_options.h"
#include "read/read_view.h"
#include "sstable/read/plain_row.h"

namespace stele::internal {

// Returns a cursor over the rows of `tablet` in `table`; null if no source can have a row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table,
                                                      const ViewTablet& tablet,
                                                      const ChainOptions& options);

// The position in table.tablets of the tablet that contains the row.
size_t TabletIndexOf(const TableView& table, std::string_view row_key);

// Finds the sources of one row.
class RowSources {
 public:
  // options.only_row is the row.
  RowSources(const TableView& table, const ChainOptions& options)
      : table_(table), options_(options) {}

  // Call once, before the others.
  absl::Status Find(const ViewTablet& tablet);
  // Fills `row` if the result is kPlain. If it is kOther, call Merge.
  absl::StatusOr<RowForm> ReadPlain(PlainRow* row) const;
  // Returns null if there is no source.
  std::unique_ptr<CellCursor> Merge() const;

 private:
  SoleColumn SoleColumnOf(size_t source_count) const;

  const TableView& table_;
  const ChainOptions& options_;
  absl::InlinedVector<const Memtable*, 2> memtables_;  // newest first, both
  absl::InlinedVector<OpenedFile, 2> files_;
};

}  // namespace stele::internal
