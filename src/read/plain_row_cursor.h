// read/plain_row_cursor.h: one row whose cells are there already: what retention keeps of them, and a cursor over that.
//
// Path:      source_chain and row_lookup, for a row that one file has all of (sstable/plain_row.h).
// Contract:  cell/cell_cursor.h.
// Threads:   confined.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"
#include "merge/retention_cursor.h"
#include "sstable/plain_row.h"

namespace stele::internal {

// Appends the row's cells, without the versions that `retention`, a read's, condemns.
void AppendKeptCells(const PlainRow& row, const std::optional<RetentionPolicy>& retention, std::vector<Cell>* cells);

// Hands out the same. The bytes of `row_key` and the rules outlive the cursor.
std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainRow row, Direction direction,
                                              const std::optional<RetentionPolicy>& retention);

}  // namespace stele::internal
