// tools/stele/copy_rows.h: the rows of one table, in parts, by several threads.
//
// Contract:  what is written is each row's cells as a reader sees them, with their timestamps. A repeat comes to the same: a cell is set
//            with its timestamp; one of an aggregate is deleted and made anew in one mutation, so that nothing counts twice. A part's mark
//            moves only after its rows are durable, and from row to row.
// Errors:    of the reads, the writes and the marks; the first one ends the other threads.
// Threads:   starts its own; called by one.
// Cost:      memory for each thread: a piece that was read and a batch, 8 MiB each, or one cell where that is larger.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "copy_marks.h"
#include "copy_plan.h"

namespace stele::cli {

// Cuts the rows into parts of about the same size, for a copy that begins.
absl::StatusOr<std::vector<PartMark>> CutIntoParts(const Table& source, const RowRange& rows);

// Copies what the table's mark says is left, and moves it on.
absl::Status CopyRows(const CopyRequest& request, const std::optional<Snapshot>& snapshot, Database& destination, CopyTable& table,
                      CopyMarks& marks);

}  // namespace stele::cli
