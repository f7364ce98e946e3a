#include "read/row_lookup.h"

#include <algorithm>
#include <memory>
#include <span>

#include "absl/container/inlined_vector.h"
#include "base/status.h"
#include "cell/held_cells.h"
#include "model/access.h"
#include "read/row_assembler.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// Rows with at most this many cells need no allocation for their views; a guess.
constexpr size_t kCommonCellCount = 16;

// One row, with the sources that its cells view.
class RowRead {
 public:
  RowRead(const TableView& table, std::string_view row_key, RowSources* sources,
          FilterProgram* program, RowLookup* lookup, bool first_cell_only)
      : table_(table),
        row_key_(row_key),
        sources_(*sources),
        program_(*program),
        lookup_(*lookup),
        options_(ReadChainOptions(table.definition(), *program, lookup->apply_gc, lookup->now)),
        assembler_(program, &lookup->interruption,
                   {.piece_bytes = ResultBytesLeft(),
                    .first_cell_only = first_cell_only,
                    .stats = &stats_,
                    .memory_tracker = lookup->memory_tracker}) {
    options_.stats = &stats_;
    options_.sequence = lookup->sequence;
    options_.fill_cache = lookup->fill_cache;
    options_.reserve_large_value = lookup->reserve_large_value;
    options_.latest_only |= first_cell_only && program->is_decided_by_newest();
  }

  ~RowRead() { lookup_.bytes_read += stats_.bytes_read; }
  RowRead(const RowRead&) = delete;
  RowRead& operator=(const RowRead&) = delete;

  // Returns false if no cell passes.
  absl::StatusOr<bool> Read();
  // After Read returned true: shows the row, and counts its cost in the lookup.
  absl::Status Show(const RowVisitor& visit);
  // The same with a copy of the first cell alone.
  absl::StatusOr<std::optional<stele::Cell>> MakeCell();

 private:
  uint64_t ResultBytesLeft() const {
    return kResultBytesMax - std::min(lookup_.result_bytes, kResultBytesMax - 1);
  }
  absl::StatusOr<bool> ReadChain();
  absl::Status CountResult(std::span<const Cell> cells);

  const TableView& table_;
  const std::string_view row_key_;
  RowSources& sources_;
  FilterProgram& program_;
  RowLookup& lookup_;
  ChainOptions options_;
  PlainSources plain_;
  std::unique_ptr<CellCursor> chain_;
  CursorStats stats_;
  RowAssembler assembler_;
};

absl::StatusOr<bool> RowRead::Read() {
  if (!assembler_.StartRow(row_key_)) return false;
  STELE_RETURN_IF_ERROR(sources_.Open(options_));
  STELE_ASSIGN_OR_RETURN(const RowForm form, program_.in_place()
                                                 ? sources_.ReadPlain(options_, &plain_)
                                                 : RowForm::kOther);
  if (form == RowForm::kAbsent) return false;
  if (form == RowForm::kPlain) return assembler_.ReadPlain(plain_, options_.retention);
  return ReadChain();
}

absl::StatusOr<bool> RowRead::ReadChain() {
  chain_ = sources_.Merge(options_);
  if (chain_ == nullptr) return false;
  if (!chain_->SeekRow(row_key_)) {
    STELE_RETURN_IF_ERROR(chain_->status());
    return false;
  }
  if (chain_->row_key() != row_key_) return false;
  const bool found = assembler_.Read(chain_.get());
  STELE_RETURN_IF_ERROR(assembler_.status());
  return found;
}

absl::Status RowRead::CountResult(std::span<const Cell> cells) {
  for (const Cell& cell : cells) lookup_.result_bytes += CellBytes(cell);
  lookup_.result_bytes += cells.size() * kCellObjectBytes;
  if (assembler_.has_more() || lookup_.result_bytes > kResultBytesMax) {
    return ResourceExhausted(
        "the result exceeds {} bytes at row \"{}\"; read it in parts with ReadRows, or request "
        "less "
        "at once",
        kResultBytesMax, Printable(row_key_));
  }
  return absl::OkStatus();
}

absl::Status RowRead::Show(const RowVisitor& visit) {
  const std::span<const Cell> cells = assembler_.piece();
  STELE_RETURN_IF_ERROR(CountResult(cells));
  absl::InlinedVector<CellView, kCommonCellCount> views;
  views.reserve(cells.size());
  AppendViews(cells, table_.definition().families, program_, &views);
  visit(Access::Make<RowView>(row_key_, views));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<stele::Cell>> RowRead::MakeCell() {
  const std::span<const Cell> cells = assembler_.piece();
  STELE_RETURN_IF_ERROR(CountResult(cells));
  const Cell& cell = cells.front();
  return stele::Cell(Timestamp::FromMicros(cell.timestamp), std::string(cell.value));
}

absl::Status FindSources(const TableView& table, std::string_view row_key, RowLookup* lookup,
                         RowSources* sources) {
  STELE_RETURN_IF_ERROR(lookup->interruption.Check());
  const ViewTablet& tablet = table.tablets[TabletIndexOf(table, row_key)];
  tablet.CountReads(1);
  sources->Find(tablet);
  return absl::OkStatus();
}

absl::StatusOr<bool> ReadFound(const TableView& table, std::string_view row_key,
                               RowSources* sources, FilterProgram* program, RowLookup* lookup,
                               const RowVisitor& visit) {
  RowRead row(table, row_key, sources, program, lookup, /*first_cell_only=*/false);
  STELE_ASSIGN_OR_RETURN(const bool found, row.Read());
  if (found) STELE_RETURN_IF_ERROR(row.Show(visit));
  return found;
}

}  // namespace

absl::StatusOr<bool> VisitRow(const TableView& table, std::string_view row_key,
                              FilterProgram* program, RowLookup* lookup, const RowVisitor& visit) {
  RowSources sources(table, row_key);
  STELE_RETURN_IF_ERROR(FindSources(table, row_key, lookup, &sources));
  if (sources.empty()) return false;
  if (program != nullptr) return ReadFound(table, row_key, &sources, program, lookup, visit);
  FilterProgram all;
  return ReadFound(table, row_key, &sources, &all, lookup, visit);
}

absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key,
                                             FilterProgram* program, RowLookup* lookup) {
  std::optional<Row> row;
  const auto keep = [&row](const RowView& view) { row.emplace(view); };
  STELE_RETURN_IF_ERROR(VisitRow(table, row_key, program, lookup, keep).status());
  return row;
}

absl::StatusOr<std::optional<stele::Cell>> LookUpCell(const TableView& table,
                                                      std::string_view row_key,
                                                      FilterProgram* program, RowLookup* lookup) {
  RowSources sources(table, row_key);
  STELE_RETURN_IF_ERROR(FindSources(table, row_key, lookup, &sources));
  if (sources.empty()) return std::nullopt;
  RowRead row(table, row_key, &sources, program, lookup, /*first_cell_only=*/false);
  STELE_ASSIGN_OR_RETURN(const bool found, row.Read());
  if (!found) return std::nullopt;
  return row.MakeCell();
}

absl::StatusOr<bool> HasPassingCell(const TableView& table, std::string_view row_key,
                                    FilterProgram* program, RowLookup* lookup) {
  RowSources sources(table, row_key);
  STELE_RETURN_IF_ERROR(FindSources(table, row_key, lookup, &sources));
  if (sources.empty()) return false;
  return RowRead(table, row_key, &sources, program, lookup, /*first_cell_only=*/true).Read();
}

}  // namespace stele::internal
