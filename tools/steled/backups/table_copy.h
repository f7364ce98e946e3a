// steled/backups/table_copy.h: copies all cells of one table to a new one, which may be in another
// database.
//
// Plain cells go through a bulk load, directly to SSTables. A load accepts no deltas, and each row
// once, as one mutation. So cells of aggregate families are written as ordinary mutations. The rest
// of a row above 4 MiB, or above the limits of one mutation, is written in this way, too. Garbage
// cells that are still stored are copied, too; the new table's GC rules hide them.
//
// Errors:    Cancelled once stopped; those of the library. Cells copied by then stay in the table,
//            which its owner must delete.
// Threads:   pure functions, except for the changes of their table.
// Cost:      one read and one write of the table; memory for some partial rows, each of 4 MiB and a
//            cell.
#pragma once

#include <stop_token>

#include "absl/status/status.h"
#include "stele/table.h"

namespace stele::server {

// Copies to `to`, which must have the families of `from` and no cells. Durable when it returns OK.
absl::Status CopyTable(const Table& from, Table* to, const std::stop_token& stop);

}  // namespace stele::server
