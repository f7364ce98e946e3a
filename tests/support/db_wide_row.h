// tests/support/db_wide_row.h: runs every kind of operation on one row of very many cells. It
// writes the row in parts, reads it forward, in reverse, by column and with limits, compacts it,
// and deletes it.
#pragma once

#include <cstdint>

#include "stele/stele.h"

namespace stele::internal {

// Creates the table "wide" in `database` and runs the operations. Fails the test if a read differs
// from the cells written.
void WorkOnAWideRow(Database& database, uint32_t cell_count);

}  // namespace stele::internal
