// bench/growth/operations.h: measures one operation on a filled table.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "layout.h"

namespace stele_growth {

// Each chooses its row, column and family at random, all with the same probability.
enum class Operation : uint8_t {
  kCell,        // ReadCell: the newest cell of a column; before any kWrite
  kRow,         // VisitRow: the newest cell of each column
  kScan,        // ReadRows: the same of 100 rows, or of all if there are fewer
  kFamilyScan,  // ReadRows: the newest cells of one family of 100 rows
  kWrite        // Apply: a new version of a column, with log, not synced
};
std::string_view NameOf(Operation operation);

struct Cost {
  uint64_t operations = 0;
  double seconds = 0;      // elapsed
  double cpu_seconds = 0;  // of the process, with background work
  double p50_us = 0;       // latencies of single operations
  double p99_us = 0;
};

// A run ends at the first of these limits, on each thread, but not before 20 operations.
struct RunLimit {
  uint64_t operations = 0;
  double seconds = 0;
};

// Reads the whole table once, to fill the block cache. Returns DataLoss if the table has another
// number of cells than the layout.
absl::Status Warm(const Layout& layout, const stele::Table& table);

// Repeats the operation on `layout.threads` threads, first a while without measuring. Returns
// DataLoss if a read finds another number of cells than the layout has.
absl::StatusOr<Cost> Measure(Operation operation, const Layout& layout, const stele::Table& table,
                             const RunLimit& limit);

}  // namespace stele_growth
