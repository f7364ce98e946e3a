#include "import_batch.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/status.h"
#include "row_text.h"

namespace stele::cli {
namespace {

// A cell that a line writes.
struct WrittenCell {
  const ImportBatch::NumberedRow* row;
  const ImportCell* cell;

  std::string_view row_key() const { return row->row.row_key; }
  auto place() const {
    const int64_t micros = cell->timestamp.value_or(Timestamp::FromMicros(-1)).micros();
    return std::tuple(row_key(), std::string_view(cell->family), std::string_view(cell->qualifier),
                      micros);
  }
};

// Returns the cells of plain families in the rows whose key another row has, too.
std::vector<WrittenCell> CellsOfRepeatedRows(const Schema& schema,
                                             const std::vector<ImportBatch::NumberedRow>& rows) {
  std::vector<const ImportBatch::NumberedRow*> sorted;
  sorted.reserve(rows.size());
  for (const ImportBatch::NumberedRow& row : rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->row.row_key, a->line) < std::tie(b->row.row_key, b->line);
  });
  std::vector<WrittenCell> cells;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const std::string& key = sorted[i]->row.row_key;
    const bool is_repeated = (i > 0 && sorted[i - 1]->row.row_key == key) ||
                             (i + 1 < sorted.size() && sorted[i + 1]->row.row_key == key);
    if (!is_repeated) continue;
    for (const ImportCell& cell : sorted[i]->row.cells) {
      const FamilySchema* const family = schema.family(cell.family);
      if (family != nullptr && family->value_type == ValueType::kBytes)
        cells.push_back({.row = sorted[i], .cell = &cell});
    }
  }
  return cells;
}

}  // namespace

void ImportBatch::Add(ImportRow row, uint64_t line) {
  bytes_ += sizeof(NumberedRow) + row.row_key.size();
  for (const ImportCell& cell : row.cells) {
    bytes_ += sizeof(ImportCell) + cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  rows_.push_back({.row = std::move(row), .line = line});
}

absl::Status ImportBatch::CheckLinesDiffer(const Schema& schema, const ImportSource& source) const {
  std::vector<WrittenCell> cells = CellsOfRepeatedRows(schema, rows_);
  std::sort(cells.begin(), cells.end(), [](const WrittenCell& a, const WrittenCell& b) {
    return std::tuple(a.place(), a.row->line) < std::tuple(b.place(), b.row->line);
  });
  const auto twice = std::adjacent_find(
      cells.begin(), cells.end(), [](const WrittenCell& a, const WrittenCell& b) {
        return a.place() == b.place() && a.cell->value != b.cell->value;
      });
  if (twice == cells.end()) return absl::OkStatus();
  const ImportCell& cell = *twice->cell;
  return source.WrongAt(
      (twice + 1)->row->line,
      fmt::format("line {} has another value for {}:{} of the row {}{}: remove one of the two, or "
                  "give them different timestamps",
                  twice->row->line, cell.family, Quoted(cell.qualifier), Quoted(twice->row_key()),
                  cell.timestamp.has_value() ? " at the same timestamp" : ""));
}

std::vector<ImportBatch::NumberedRow> ImportBatch::Take() {
  bytes_ = 0;
  return std::exchange(rows_, {});
}

}  // namespace stele::cli
