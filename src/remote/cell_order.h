// remote/cell_order.h: the order of a row's cells, of which not every server keeps all.
//
// Threads:   pure.
#pragma once

#include <vector>

#include "stele/row.h"

namespace stele::internal {

// Families stay in the order in which they first appear, which is the server's; each family's cells come together, qualifiers by bytes,
// versions newest first.
void PutInOrder(std::vector<CellView>* cells);

}  // namespace stele::internal
