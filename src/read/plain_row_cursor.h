// read/plain_row_cursor.h: a cursor over one row whose cells are there already.
//
// Path:      source_chain, for a row that one file has all of (sstable/plain_row.h).
// Contract:  cell/cell_cursor.h.
// Threads:   confined.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "cell/cell_cursor.h"
#include "merge/retention_cursor.h"
#include "sstable/plain_row.h"

namespace stele::internal {

// Without the versions that `retention`, a read's, condemns. The bytes of `row_key` and the rules outlive the cursor.
std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainRow row, Direction direction,
                                              const std::optional<RetentionPolicy>& retention);

}  // namespace stele::internal
