// read/row_lookup.h: reads one complete row, for ReadRow, VisitRow, ReadCell, ReadMany and Exists.
// It needs no plan over ranges and no pieces.
//
// Used by:   state/read_path.cc.
// Calls:     read/source_chain.h (which sources have the row), read/row_assembler.h (which cells of
//            it pass).
// Errors:    DataLoss of a source; Cancelled, DeadlineExceeded, FailedPrecondition as interrupted;
//            ResourceExhausted above kResultBytesMax.
// Threads:   confined to one thread at a time; the table's view is immutable and outlives the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/memory_tracker.h"
#include "cell/cell_cursor.h"
#include "filter/program.h"
#include "read/interruption.h"
#include "read/read_view.h"
#include "stele/row.h"

namespace stele::internal {

// The limit for all rows that one call returns.
inline constexpr uint64_t kResultBytesMax = uint64_t{256} << 20;

struct RowLookup {
  uint64_t sequence = 0;
  int64_t now = 0;
  bool apply_gc = true;
  bool fill_cache = true;
  Interruption interruption;
  MemoryTracker* memory_tracker =
      nullptr;  // is charged for memory while a row is read; may be null
  const ReserveValue* reserve_large_value = nullptr;  // may be null; outlives the lookup
  uint64_t bytes_read = 0;                            // from files, so far
  // The size of the rows found so far, with the cost of each cell in addition to its bytes.
  uint64_t result_bytes = 0;
};

// Calls `visit` with a view of the row, and returns true. The view is valid during the call.
// Returns false, without a call, if no cell of the row passes. `program` is compiled for the table;
// null: all cells pass.
absl::StatusOr<bool> VisitRow(const TableView& table, std::string_view row_key,
                              FilterProgram* program, RowLookup* lookup, const RowVisitor& visit);

// The same, with a copy of the row; nullopt if no cell passes.
absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key,
                                             FilterProgram* program, RowLookup* lookup);

// Returns the first cell of the row that passes; nullopt if none does.
absl::StatusOr<std::optional<stele::Cell>> LookUpCell(const TableView& table,
                                                      std::string_view row_key,
                                                      FilterProgram* program, RowLookup* lookup);

// Returns true if a cell of the row passes.
absl::StatusOr<bool> HasPassingCell(const TableView& table, std::string_view row_key,
                                    FilterProgram* program, RowLookup* lookup);

}  // namespace stele::internal
