// tools/stele/bench/table.h: creates, fills, recognizes and deletes the table of `stele bench`.
//
// The table has the property "bench.data", which describes its contents, and "bench.rows" once it
// is filled. A server that has no properties gets a marker row with the same texts. A table without
// them is the user's, and bench never changes it.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "absl/status/statusor.h"
#include "bench/options.h"
#include "stele/stele.h"

namespace stele::cli {

// The duration of the load, and the amount written.
struct LoadFigures {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t value_bytes = 0;
  std::chrono::nanoseconds time{0};
};

struct BenchTable {
  Table table;
  bool is_created = false;          // by this run
  std::optional<LoadFigures> load;  // unset: the table was there
};

// Opens the table, or creates and fills it as options.load says. If the load fails, the new table
// is deleted unless options.keeps_table is set. Errors: FailedPrecondition if the table is the
// user's, or if it has other rows and options.load is kNever; Cancelled if a stop is requested
// during the load; errors of the database.
absl::StatusOr<BenchTable> PrepareBenchTable(Database* database, const BenchOptions& options,
                                             const std::stop_token& stop);

// True if the workload adds rows or columns, or deletes rows. Updates write what was there before.
bool ChangesRows(const Workload& workload);
// Records that the table will not have the rows of a load any more, so that no later run uses it.
absl::Status MarkChanged(Table* table);

// The changes that write a row of the benchmark: all fields, all versions.
RowMutation BenchRow(const BenchOptions& options, uint64_t row, ValueMaker* values);

}  // namespace stele::cli
