// read/source_chain.h: the chain of cursors over one tablet: memtables and stack -> merge -> retention.
//
// Path:      row_stream, row_lookup, db's conditional writes -> here -> memtable, sstable, merge; row_sources for one row.
// Sources:   each memtable, and each run of the stack (manifest/runs.h): references that do not overlap are one source, of which only the
//            file is open whose rows are being read.
// Errors:    that of a file that could not be opened and whose rows are asked for; within a run it is met when they are come to.
// Threads:   pure; the cursor is confined to one thread. It keeps nothing alive: its user holds `table`, tablets and all.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "read/chain_options.h"
#include "read/read_view.h"

namespace stele::internal {

// A cursor over `tablet`'s rows as `table` shows them. Null when no source can hold a row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options);

// The tablet that holds the row, and its position in table.tablets.
size_t TabletIndexOf(const TableView& table, std::string_view row_key);

}  // namespace stele::internal
