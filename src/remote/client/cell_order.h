// remote/client/cell_order.h: sorts the cells of a row, since not every server returns them in
// order.
//
// Threads:   pure.
#pragma once

#include <vector>

#include "stele/row.h"

namespace stele::internal {

// Families keep the server's order, in which they first appear. The cells of each family become
// contiguous, sorted by qualifier bytes, and versions newest first.
void PutInOrder(std::vector<CellView>* cells);

}  // namespace stele::internal
