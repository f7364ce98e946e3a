#include "memtable/plain_cells.h"

namespace stele::internal {
namespace {

// A cursor seeks past long sequences of nodes. Here each node costs a step, so a row with more
// nodes is not plain; a guess.
constexpr int kPlainNodesMax = 64;

class PlainCells {
 public:
  PlainCells(uint64_t sequence, const CursorOptions& options, std::vector<Cell>* cells)
      : sequence_(sequence), options_(options), cells_(*cells) {}

  // Returns false if the row is not plain.
  bool AppendRow(const RowNode& row) {
    for (const ColumnNode* column = row.columns().First(); column != nullptr;
         column = column->next()) {
      if (column->family() == kRowFamily || column->is_family_tombstones()) return false;
      const uint32_t family = column->family() < options_.families.size()
                                  ? options_.families[column->family()]
                                  : kSkippedFamily;
      const bool is_plain = family == kSkippedFamily ? CountNode() : AppendColumn(*column, family);
      if (!is_plain) return false;
    }
    return true;
  }

 private:
  bool CountNode() { return ++node_count_ <= kPlainNodesMax; }

  bool AppendColumn(const ColumnNode& column, uint32_t family) {
    if (options_.latest_only && column.HasRangesAt(sequence_)) return false;
    const CellNode* last = nullptr;  // that was appended
    for (const CellNode* node = column.FirstCell(); node != nullptr; node = node->next()) {
      if (!CountNode()) return false;
      // The nodes of one cell key are ordered newest first.
      if (node->sequence() > sequence_ || (last != nullptr && node->IsSameCell(*last))) continue;
      if (node->kind() != CellKind::kSet) return false;
      cells_.push_back(node->AsCell(family, column.qualifier()));
      if (options_.latest_only) break;
      last = node;
    }
    return true;
  }

  const uint64_t sequence_;
  const CursorOptions& options_;
  std::vector<Cell>& cells_;
  int node_count_ = 0;
};

}  // namespace

bool AppendPlainCells(const RowNode& row, uint64_t sequence, const CursorOptions& options,
                      std::vector<Cell>* cells) {
  const size_t count_before = cells->size();
  const bool is_plain = PlainCells(sequence, options, cells).AppendRow(row);
  if (!is_plain) cells->resize(count_before);
  return is_plain;
}

}  // namespace stele::internal
