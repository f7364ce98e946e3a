// support/db_wide_row.h: all that one does to a row of very many cells, at any size: in parts, forward and in reverse, by column, with
// limits, collected, deleted.
#pragma once

#include <cstdint>

#include "stele/stele.h"

namespace stele::internal {

// Makes the table "wide" in `database`. Fails the test where something differs from what was written.
void WorkOnAWideRow(Database& database, uint32_t cell_count);

}  // namespace stele::internal
