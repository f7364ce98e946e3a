#include "read/row_lookup.h"

#include <memory>
#include <vector>

#include "base/status.h"
#include "cell/held_cells.h"
#include "read/pass_reader.h"
#include "read/row_pins.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// The row's cells that pass, as they are collected; their bytes are pinned by the chain or held here.
struct Collected {
  explicit Collected(MemoryBudget* budget) : charge(budget, MemoryBudget::Use::kPages) {}

  std::vector<Cell> cells;
  std::optional<PassReader> passes;  // where the program does not run in place
  CursorStats stats;
  RowPins pins{&stats};
  uint64_t bytes = 0;  // of cells
  Buffer held;
  MemoryCharge charge;
};

// After a batch of which the cells from `begin` on passed.
absl::Status AfterBatch(std::string_view row_key, size_t begin, CellCursor* chain, RowLookup* lookup, Collected* row) {
  uint64_t bytes = 0;
  for (size_t i = begin; i < row->cells.size(); ++i) bytes += CellBytes(row->cells[i]);
  row->bytes += bytes;
  lookup->result_bytes += bytes + (row->cells.size() - begin) * kShownCellBytes;
  if (lookup->result_bytes > kResultBytesMax) {
    return ResourceExhausted("the result is over {} bytes at row \"{}\"; read it in pieces with ReadRows, or ask for less at once",
                             kResultBytesMax, Printable(row_key));
  }
  if (!row->cells.empty()) {
    if (!row->pins.IsCopyDue(row->cells.size(), row->bytes)) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(row->held, HoldCells(std::span(row->cells)));
    if (row->passes) STELE_RETURN_IF_ERROR(row->passes->Hold());
    row->charge.Set(row->held.memory_bytes() + (row->passes ? row->passes->held_bytes() : 0));
  } else if (row->passes && row->passes->has_pending()) {
    return absl::OkStatus();
  }
  chain->Unpin();
  row->pins.Unpinned();
  return absl::OkStatus();
}

absl::Status ReadInPlace(std::string_view row_key, FilterProgram::Next next, CellCursor* chain, FilterProgram* program, RowLookup* lookup,
                         Collected* row) {
  while (next != FilterProgram::Next::kRowDone) {
    if (next == FilterProgram::Next::kSkipTo) chain->SkipTo(program->skip_family(), program->skip_qualifier());
    STELE_RETURN_IF_ERROR(lookup->interruption.Check());
    const size_t begin = row->cells.size();
    if (!chain->ReadCells(&row->cells)) return chain->status();
    next = program->Run(&row->cells, begin);
    STELE_RETURN_IF_ERROR(AfterBatch(row_key, begin, chain, lookup, row));
  }
  return absl::OkStatus();
}

absl::Status ReadInPasses(std::string_view row_key, CellCursor* chain, FilterProgram* program, RowLookup* lookup, Collected* row) {
  PassReader& passes = row->passes.emplace();
  passes.StartRow(chain, Direction::kForward, program, &lookup->interruption);
  for (size_t begin = 0; passes.Read(&row->cells); begin = row->cells.size()) {
    STELE_RETURN_IF_ERROR(AfterBatch(row_key, begin, chain, lookup, row));
  }
  return passes.status();
}

}  // namespace

absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key, FilterProgram* program, RowLookup* lookup) {
  STELE_RETURN_IF_ERROR(lookup->interruption.Check());
  const FilterProgram::Next start = program->StartRow(row_key);
  if (start == FilterProgram::Next::kRowDone) return std::nullopt;
  ChainOptions options = ReadChainOptions(table.definition(), *program, lookup->apply_gc, lookup->now);
  options.sequence = lookup->sequence;
  options.fill_cache = lookup->fill_cache;
  options.only_row = row_key;
  Collected row(lookup->budget);
  options.stats = &row.stats;
  const ViewTablet& tablet = table.tablets[TabletIndexOf(table, row_key)];
  tablet.CountReads(1);
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<CellCursor> chain, OpenChain(table, tablet, options));
  if (chain == nullptr) return std::nullopt;
  if (!chain->SeekRow(row_key)) {
    STELE_RETURN_IF_ERROR(chain->status());
    return std::nullopt;
  }
  if (chain->row_key() != row_key) return std::nullopt;
  STELE_RETURN_IF_ERROR(program->in_place() ? ReadInPlace(row_key, start, chain.get(), program, lookup, &row)
                                            : ReadInPasses(row_key, chain.get(), program, lookup, &row));
  if (row.cells.empty()) return std::nullopt;
  const FamilyList& families = table.definition().families;
  std::vector<CellView> views;
  views.reserve(row.cells.size());
  for (const Cell& cell : row.cells) {
    views.emplace_back(families[cell.family].name, cell.qualifier, Timestamp::FromMicros(cell.timestamp), cell.value,
                       program->LabelsOf(cell));
  }
  return Row(RowView(row_key, views));
}

}  // namespace stele::internal
