// read/source_chain.h: the chain of cursors over one tablet: memtables and stack -> merge ->
// retention; and for one row, the sources that may hold it.
//
// Used by:   read/scan_cursor.cc and write/gc_fence.cc (OpenChain), read/row_lookup.cc
//            (RowSources).
// Calls:     memtable/memtable.h and sstable/read/sstable_reader.h (the sources),
//            read/chain_options.h (merge and retention), read/row_cursors.h (one row).
// Sources:   each memtable, and each run of the stack (manifest/runs.h): references that do not
//            overlap are one source, and only the file whose rows are being read is open. For one
//            row: the sources that ranges, bloom filters and the memtables' search do not rule out.
//            Most files do not have a given row. A row that is plain in each source
//            (read/row_cursors.h) needs no chain.
// Errors:    that of a file that could not be opened, if its rows are requested. Within a run it is
//            returned when the cursor reaches that file.
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
#include "read/row_cursors.h"
#include "sstable/read/plain_row.h"

namespace stele::internal {

// Returns a cursor over the rows of `tablet` in `table`; null if no source can have a row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table,
                                                      const ViewTablet& tablet,
                                                      const ChainOptions& options);

// The position in table.tablets of the tablet that contains the row.
size_t TabletIndexOf(const TableView& table, std::string_view row_key);

// Starts to read the row from its files, and does not wait. Call it for a row that is read after
// other rows. `options` are those of that read; only_row is not used.
void StartReadOfRow(const TableView& table, std::string_view row_key, const ChainOptions& options);
// The number of rows ahead for which a caller starts reads.
inline constexpr size_t kRowsStartedMax = 64;

// The sources of one row. A row that does not exist usually has none. So a read first finds the
// sources, and prepares its options only if there are any.
class RowSources {
 public:
  RowSources(const TableView& table, std::string_view row_key) : table_(table), row_key_(row_key) {}

  // Finds the sources that may have the row, by its key alone. Call once.
  void Find(const ViewTablet& tablet);
  bool empty() const { return memtable_rows_.empty() && references_.empty(); }
  // See StartReadOfRow.
  void StartRead(const ChainOptions& options) const;
  // Opens the files, except those that the options leave out. Call once, before the others.
  absl::Status Open(const ChainOptions& options);
  // Fills `row`, which is empty, if the result is kPlain. If it is kOther, call Merge. The options
  // are those of Open, in both.
  absl::StatusOr<RowForm> ReadPlain(const ChainOptions& options, PlainSources* row) const;
  // Returns null if there is no source.
  std::unique_ptr<CellCursor> Merge(const ChainOptions& options) const;

 private:
  struct MemtableRow {
    const Memtable* memtable;
    const RowNode* row;
  };
  absl::StatusOr<RowForm> FillPlain(const ChainOptions& options, PlainSources* row) const;
  SoleColumn SoleColumnOf(const ChainOptions& options, size_t source_count) const;

  const TableView& table_;
  const std::string_view row_key_;
  absl::InlinedVector<MemtableRow, 2> memtable_rows_;  // newest first, all
  absl::InlinedVector<const ViewReference*, 4> references_;
  absl::InlinedVector<OpenedFile, 2> files_;  // of references_, by Open
};

}  // namespace stele::internal
