// tools/stele/copy_rows.h: copies the rows of one table, in parts, with several threads.
//
// Contract:  The destination gets each row's cells as a reader sees them, with their timestamps.
//            Copying a row twice has no further effect: a cell is set with its timestamp, and an
//            aggregate cell is deleted and created again in one mutation. A part's mark advances
//            row by row, and only after the rows are durable.
// Errors:    Errors of reads, writes and marks. The first error stops the other threads.
// Threads:   Called by one thread. Starts its own threads.
// Cost:      Memory per thread: a partial row and a batch, 8 MiB each, or one cell if that is
//            larger.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "copy_marks.h"
#include "copy_plan.h"

namespace stele::cli {

// Divides the rows into parts of about the same size, for a new copy.
absl::StatusOr<std::vector<PartMark>> CutIntoParts(const Table& source, const RowRange& rows);

// Copies the rows that the table's mark does not cover, and advances the mark.
absl::Status CopyRows(const CopyRequest& request, const Snapshot& snapshot, Database& destination,
                      CopyTable& table, CopyMarks& marks);

}  // namespace stele::cli
