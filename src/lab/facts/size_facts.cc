#include "lab/facts/size_facts.h"

#include <algorithm>

namespace stele::internal::lab {

void SizeFacts::Add(const RowView& piece) {
  for (const CellView& cell : piece.cells()) {
    const uint64_t qualifier_bytes = cell.qualifier().size();
    const uint64_t value_bytes = cell.value().size();
    qualifier_bytes_ += qualifier_bytes;
    value_bytes_ += value_bytes;
    row_value_bytes_ += value_bytes;
    row_qualifier_bytes_max_ = std::max(row_qualifier_bytes_max_, qualifier_bytes);
    row_value_bytes_max_ = std::max(row_value_bytes_max_, value_bytes);
  }
  cells_ += piece.cells().size();
  row_cells_ += piece.cells().size();
  if (piece.is_last_piece()) EndRow(piece.row_key());
}

void SizeFacts::EndRow(std::string_view row_key) {
  ++rows_;
  key_bytes_ += row_key.size();
  cells_per_row_.Add(row_cells_);
  long_keys_.Check(row_key.size(), limits_.key_bytes, row_key);
  long_qualifiers_.Check(row_qualifier_bytes_max_, limits_.qualifier_bytes, row_key);
  large_values_.Check(row_value_bytes_max_, limits_.recommended_value_bytes, row_key);
  huge_values_.Check(row_value_bytes_max_, limits_.value_bytes, row_key);
  large_rows_.Check(row_value_bytes_, limits_.recommended_row_bytes, row_key);
  huge_rows_.Check(row_value_bytes_, limits_.row_bytes, row_key);
  many_cells_.Check(row_cells_, limits_.cells_p99, row_key);
  too_many_cells_.Check(row_cells_, limits_.cells_max, row_key);
  row_cells_ = row_value_bytes_ = row_qualifier_bytes_max_ = row_value_bytes_max_ = 0;
}

}  // namespace stele::internal::lab
