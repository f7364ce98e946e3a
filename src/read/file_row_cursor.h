// read/file_row_cursor.h: one row of one SSTable, read when its cells are asked for.
//
// Path:      source_chain, for a row that other sources may have too -> here -> sstable/plain_row.h, or a cursor where that does not do.
// Contract:  cell/cell_cursor.h. It says that the file has the row without looking; then it may turn out to have no cells.
// Errors:    the file's, met by ReadCells.
// Threads:   confined.
#pragma once

#include <memory>
#include <string_view>

#include "cell/cell_cursor.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {

// `reader`, and the bytes of `row_key`, outlive the cursor. Its direction is that of the chain; it goes into the options.
std::unique_ptr<CellCursor> NewFileRowCursor(const SstableReader* reader, std::string_view row_key, CursorOptions options);

}  // namespace stele::internal
