// read/row_cursors.h: cursors over one row of one SSTable. One reads the row when its cells are
// requested. The other returns cells that were read before.
//
// Used by:   read/source_chain.cc makes the cursors. read/row_assembler.cc calls AppendKeptCells.
// Calls:     sstable/read/plain_row.h, or a cursor of the file if the row is not plain.
// Contract:  cell/cell_cursor.h. The cursor of a file does not check that the file has the row,
//            so the row may turn out to have no cells.
// Errors:    the file's, returned by ReadCells.
// Threads:   confined.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"
#include "merge/version_counter.h"
#include "sstable/read/plain_row.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

// Returns the row's cells as a source does: with garbage versions. `reader`, and the bytes of
// `row_key`, must outlive the cursor. The direction in the options is that of the chain.
std::unique_ptr<CellCursor> NewFileRowCursor(const SstableReader* reader, std::string_view row_key,
                                             CursorOptions options);

// Appends the row's cells, except versions that `retention` (that of a read) collects.
void AppendKeptCells(const PlainRow& row, const std::optional<RetentionPolicy>& retention,
                     std::vector<Cell>* cells);

// Returns the same cells. The bytes of `row_key`, and the rules, must outlive the cursor.
std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainRow row,
                                              Direction direction,
                                              const std::optional<RetentionPolicy>& retention);

}  // namespace stele::internal
