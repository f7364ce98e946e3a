#include "read/row_lookup.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/status.h"
#include "cell/held_cells.h"
#include "read/pass_reader.h"
#include "read/plain_row_cursor.h"
#include "read/row_pins.h"
#include "read/row_sources.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

constexpr size_t kCommonCellCount = 16;  // of a row that is read without an allocation for what shows it; a guess

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

// Of cells that pass, among those of one call.
absl::StatusOr<uint64_t> CountResult(std::string_view row_key, std::span<const Cell> cells, RowLookup* lookup) {
  uint64_t bytes = 0;
  for (const Cell& cell : cells) bytes += CellBytes(cell);
  lookup->result_bytes += bytes + cells.size() * kShownCellBytes;
  if (lookup->result_bytes <= kResultBytesMax) return bytes;
  return ResourceExhausted("the result is over {} bytes at row \"{}\"; read it in pieces with ReadRows, or ask for less at once",
                           kResultBytesMax, Printable(row_key));
}

// After a batch of which the cells from `begin` on passed.
absl::Status AfterBatch(std::string_view row_key, size_t begin, CellCursor* chain, RowLookup* lookup, Collected* row) {
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, CountResult(row_key, std::span(row->cells).subspan(begin), lookup));
  row->bytes += bytes;
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

// None when there is no cell.
std::optional<Row> RowOf(const TableView& table, std::string_view row_key, std::span<const Cell> cells, const FilterProgram& program) {
  if (cells.empty()) return std::nullopt;
  const FamilyList& families = table.definition().families;
  absl::InlinedVector<CellView, kCommonCellCount> views;
  views.reserve(cells.size());
  for (const Cell& cell : cells) {
    views.emplace_back(families[cell.family].name, cell.qualifier, Timestamp::FromMicros(cell.timestamp), cell.value,
                       program.LabelsOf(cell));
  }
  return Row(RowView(row_key, views));
}

// All its cells at once, and no chain.
absl::StatusOr<std::optional<Row>> ReadPlain(const TableView& table, const PlainRow& plain, const ChainOptions& options,
                                             FilterProgram* program, RowLookup* lookup) {
  std::vector<Cell> cells;
  AppendKeptCells(plain, options.retention, &cells);
  program->Run(&cells, 0);
  STELE_RETURN_IF_ERROR(CountResult(*options.only_row, cells, lookup).status());
  return RowOf(table, *options.only_row, cells, *program);
}

absl::StatusOr<std::optional<Row>> ReadChain(const TableView& table, const RowSources& sources, ChainOptions* options,
                                             FilterProgram::Next start, FilterProgram* program, RowLookup* lookup) {
  const std::string_view row_key = *options->only_row;
  Collected row(lookup->budget);
  options->stats = &row.stats;
  const std::unique_ptr<CellCursor> chain = sources.Merge();
  if (chain == nullptr) return std::nullopt;
  if (!chain->SeekRow(row_key)) {
    STELE_RETURN_IF_ERROR(chain->status());
    return std::nullopt;
  }
  if (chain->row_key() != row_key) return std::nullopt;
  STELE_RETURN_IF_ERROR(program->in_place() ? ReadInPlace(row_key, start, chain.get(), program, lookup, &row)
                                            : ReadInPasses(row_key, chain.get(), program, lookup, &row));
  return RowOf(table, row_key, row.cells, *program);
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
  const ViewTablet& tablet = table.tablets[TabletIndexOf(table, row_key)];
  tablet.CountReads(1);
  RowSources sources(table, options);
  STELE_RETURN_IF_ERROR(sources.Find(tablet));
  PlainRow plain;
  STELE_ASSIGN_OR_RETURN(const RowForm form, program->in_place() ? sources.ReadPlain(&plain) : RowForm::kOther);
  if (form == RowForm::kAbsent) return std::nullopt;
  if (form == RowForm::kPlain) return ReadPlain(table, plain, options, program, lookup);
  return ReadChain(table, sources, &options, start, program, lookup);
}

}  // namespace stele::internal
