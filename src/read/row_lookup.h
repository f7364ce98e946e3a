// read/row_lookup.h: one row, whole: what ReadRow and ReadMany need, without the planning and the pieces of a stream.
//
// Path:      db's read path -> here -> read/row_sources.h, filter/program.h.
// Errors:    DataLoss of a source; Cancelled, DeadlineExceeded, FailedPrecondition as interrupted; ResourceExhausted above kResultBytesMax.
// Threads:   confined to one thread at a time; the table's view is immutable and outlives the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/memory_budget.h"
#include "filter/program.h"
#include "read/interruption.h"
#include "read/read_view.h"
#include "stele/row.h"

namespace stele::internal {

// Of the rows handed out whole by one call, together.
inline constexpr uint64_t kResultBytesMax = uint64_t{256} << 20;

struct RowLookup {
  uint64_t sequence = 0;
  int64_t now = 0;
  bool apply_gc = true;
  bool fill_cache = true;
  Interruption interruption;
  MemoryBudget* budget = nullptr;  // what is held while a row is read is charged to it; may be null
  uint64_t result_bytes = 0;       // of the rows found so far, with what each cell costs beside its bytes
};

// None when no cell of the row passes. `program` is compiled for the table.
absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key, FilterProgram* program, RowLookup* lookup);

}  // namespace stele::internal
