#include "support/mutation_text.h"

#include <optional>

namespace stele::internal {

BatchOp OpOf(const OwnedCell& cell, const FamilyList& families) {
  return {.kind = cell.kind,
          .family_id = cell.family == kRowFamily ? 0 : families[cell.family].id,
          .timestamp = cell.timestamp,
          .range_start = cell.range_start,
          .qualifier = cell.qualifier,
          .value = cell.value};
}

std::string BatchOf(std::string_view lines, uint32_t table_id, const FamilyList& families) {
  BatchWriter writer;
  std::optional<std::string> row_key;
  for (const CellLine& line : ParseCellLines(lines, families)) {
    if (row_key != line.row_key) writer.StartRow(table_id, line.row_key);
    row_key = line.row_key;
    writer.Add(OpOf(line.cell, families));
  }
  return writer.Finish();
}

}  // namespace stele::internal
