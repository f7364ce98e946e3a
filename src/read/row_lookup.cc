#include "read/row_lookup.h"

#include <memory>
#include <vector>

#include "base/status.h"
#include "read/held_cells.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// The row's cells that pass; their bytes are pinned by the chain or in `held`.
absl::Status ReadCells(std::string_view row_key, CellCursor* chain, FilterProgram* program, RowLookup* lookup, std::vector<Cell>* cells,
                       Buffer* held) {
  BarrenBatches barren;
  MemoryCharge held_charge(lookup->budget, MemoryBudget::Use::kPages);
  FilterProgram::Next next = program->StartRow(row_key);
  while (next != FilterProgram::Next::kRowDone) {
    if (next == FilterProgram::Next::kSkipTo) chain->SkipTo(program->skip_family(), program->skip_qualifier());
    STELE_RETURN_IF_ERROR(lookup->interruption.Check());
    const size_t begin = cells->size();
    if (!chain->ReadCells(cells)) return chain->status();
    next = program->Run(cells, begin);
    for (size_t i = begin; i < cells->size(); ++i) lookup->result_bytes += CellBytes((*cells)[i]) + kShownCellBytes;
    if (lookup->result_bytes > kResultBytesMax) {
      return ResourceExhausted("the result is over {} bytes at row \"{}\"; read it in pieces with ReadRows, or ask for less at once",
                               kResultBytesMax, Printable(row_key));
    }
    if (cells->size() > begin) continue;
    // A giant row of which little passes is not to be pinned all at once.
    if (!cells->empty()) {
      if (!barren.IsCopyDue()) continue;
      STELE_ASSIGN_OR_RETURN(*held, HoldCells(cells));
      held_charge.Set(held->size());
    }
    chain->Unpin();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key, FilterProgram* program, RowLookup* lookup) {
  STELE_RETURN_IF_ERROR(lookup->interruption.Check());
  if (!program->may_pass()) return std::nullopt;
  ChainOptions options = ReadChainOptions(table.definition(), *program, lookup->apply_gc, lookup->now);
  options.sequence = lookup->sequence;
  options.fill_cache = lookup->fill_cache;
  options.only_row = row_key;
  const ViewTablet& tablet = table.tablets[TabletIndexOf(table, row_key)];
  tablet.CountReads(1);
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<CellCursor> chain, OpenChain(table, tablet, options));
  if (chain == nullptr) return std::nullopt;
  if (!chain->SeekRow(row_key)) {
    STELE_RETURN_IF_ERROR(chain->status());
    return std::nullopt;
  }
  if (chain->row_key() != row_key) return std::nullopt;
  std::vector<Cell> cells;
  Buffer held;
  STELE_RETURN_IF_ERROR(ReadCells(row_key, chain.get(), program, lookup, &cells, &held));
  if (cells.empty()) return std::nullopt;
  const FamilyList& families = table.definition().families;
  std::vector<CellView> views;
  views.reserve(cells.size());
  for (const Cell& cell : cells) {
    views.emplace_back(families[cell.family].name, cell.qualifier, Timestamp::FromMicros(cell.timestamp), cell.value);
  }
  return Row(RowView(row_key, views));
}

}  // namespace stele::internal
