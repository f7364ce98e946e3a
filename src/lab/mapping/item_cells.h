// mapping/item_cells.h: converts an item to the cells of a row, and back.
//
// Errors:    InvalidArgument that names the attribute or the column.
// Threads:   thread-compatible.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "lab/mapping/mapping.h"
#include "lab/values/item.h"
#include "stele/row.h"

namespace stele::internal::lab {

using CellSink = std::function<void(std::string_view family, std::string_view qualifier,
                                    std::string_view value)>;

// Checks that the cells of an item fit into a row: qualifiers, the number of cells, counters.
absl::Status CheckItemCells(const Mapping& mapping, const Item& item);

// Calls `sink` for each cell of an item that CheckItemCells accepts. `mapping.types` must be
// complete.
void EncodeItemCells(const Mapping& mapping, const FamilyNames& families, const Item& item,
                     const CellSink& sink);

// Adds the attributes of a row's cells to an item, sorted by name, without the attributes of the
// row key. Only the newest version of a column counts. The item keeps the names and texts.
// Errors: a cell that EncodeItemCells does not make.
absl::Status DecodeItemCells(const Mapping& mapping, std::span<const CellView> cells, Item* item);

}  // namespace stele::internal::lab
