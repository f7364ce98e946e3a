// steled/table_copy.h: all cells of one table into a new one, also of another database.
//
// Plain cells go through a bulk load, straight into SSTables. A load takes no deltas, and no more of a row than one mutation may have: the
// cells of aggregate families, and what of a row is beyond that, are written after the usual fashion. Cells that their family's rule
// condemns and that are still stored are copied, too: what a rule hides is the new table's affair.
//
// Errors:    Cancelled once stopped; the library's. What was copied by then stays in the table, for its owner to delete.
// Threads:   pure functions, but for what they do to their table.
// Cost:      one reading and one writing of the table; memory of some pieces of a row, 4 MiB each and a cell.
#pragma once

#include <stop_token>

#include "absl/status/status.h"
#include "stele/table.h"

namespace stele::server {

// Into `to`, which has the families of `from`, and nothing else. Durable when it answers OK.
absl::Status CopyTable(const Table& from, Table* to, const std::stop_token& stop);

}  // namespace stele::server
