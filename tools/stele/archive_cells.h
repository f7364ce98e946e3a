// tools/stele/archive_cells.h: compares the old cells of a table with those of its archive, and
// copies, verifies and deletes them.
//
// Errors:    FailedPrecondition if the archive has a cell with another value, or lacks one; errors
//            of the databases.
// Threads:   Confined to one thread. Nothing else writes to the tables.
// Cost:      Memory: a batch and two partial rows of 8 MiB each, or one cell if that is larger.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

// The cells of `rows` with a timestamp before `before`. A cell of an aggregate family with the
// timestamp 0 is not old: it is a counter without a period, which is still added to.
struct OldCells {
  RowRange rows;
  Timestamp before;
  Timestamp unit;  // the least timestamp of the table above 0

  TimestampRange timestamps(ValueType type) const {
    return {.start = type == ValueType::kBytes ? Timestamp() : unit, .end = before};
  }
};

struct OldCellCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // row keys, qualifiers and values
};

// Copies the old cells that the archive lacks. Returns their number. The archive has all families
// of the table.
absl::StatusOr<uint64_t> CopyOldCells(const Table& table, Table& archive, const OldCells& old);

// Returns an error unless the archive has each old cell with the same value, and otherwise their
// number.
absl::StatusOr<uint64_t> VerifyOldCells(const Table& table, const Table& archive,
                                        const OldCells& old);

absl::StatusOr<OldCellCounts> CountOldCells(const Table& table, const OldCells& old);

// Deletes the old cells, and returns what was deleted.
absl::StatusOr<OldCellCounts> DeleteOldCells(Table& table, const OldCells& old);

}  // namespace stele::cli
