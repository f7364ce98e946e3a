// tools/stele/compare/table_figures.h: what the data of a table takes, for `stele compare-designs`.
//
// Threads:   Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "stele/stele.h"

namespace stele::cli {

// The data of a table after it was loaded and compacted. Exact.
struct TableFigures {
  uint64_t records = 0;
  uint64_t rows = 0;
  uint64_t cells_loaded = 0;
  uint64_t cells = 0;              // that a reader sees: fewer if records have the same row key
  uint64_t cells_per_row_p50 = 0;  // with 3 significant digits
  uint64_t cells_per_row_p99 = 0;
  uint64_t cells_per_row_max = 0;
  std::string largest_row;  // by bytes
  uint64_t largest_row_bytes = 0;
  uint64_t key_bytes = 0;        // each row key once
  uint64_t qualifier_bytes = 0;  // with the family's name
  uint64_t value_bytes = 0;
  uint64_t disk_bytes = 0;     // of the SSTables
  uint64_t written_bytes = 0;  // by bulk load, flushes and compactions; not the log
  double load_seconds = 0;

  uint64_t logical_bytes() const { return key_bytes + qualifier_bytes + value_bytes; }
};

// Reads the whole table, and sets all members that describe its rows.
// Errors: those of the read.
absl::Status CountRows(const Table& table, TableFigures* figures);

}  // namespace stele::cli
