#include "lab/compare/table_figures.h"

#include "base/status.h"
#include "stele/lab/histogram.h"

namespace stele::internal::lab {

absl::Status CountRows(const Table& table, stele::lab::CompareReport::TableFigures* figures) {
  stele::lab::LatencyHistogram cells_per_row;  // of counts instead of nanoseconds
  uint64_t row_cells = 0;
  uint64_t row_bytes = 0;
  RowReader reader = table.ReadRows();
  for (const RowView& row : reader) {
    row_cells += row.cells().size();
    for (const CellView& cell : row.cells()) {
      const uint64_t name_bytes = cell.family().size() + cell.qualifier().size();
      figures->qualifier_bytes += name_bytes;
      figures->value_bytes += cell.value().size();
      row_bytes += name_bytes + cell.value().size();
    }
    if (!row.is_last_piece()) continue;
    ++figures->rows;
    figures->cells_kept += row_cells;
    figures->key_bytes += row.row_key().size();
    cells_per_row.Record(row_cells);
    row_bytes += row.row_key().size();
    if (row_bytes > figures->largest_row_bytes) {
      figures->largest_row_bytes = row_bytes;
      figures->largest_row = row.row_key();
    }
    row_cells = row_bytes = 0;
  }
  figures->cells_per_row_p50 = cells_per_row.ValueAtPercentile(50);
  figures->cells_per_row_p99 = cells_per_row.ValueAtPercentile(99);
  figures->cells_per_row_max = cells_per_row.Max();
  return reader.status();
}

}  // namespace stele::internal::lab
