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
  RowRead(const TableView& table, std::string_view row_key, FilterProgram* program,
          RowLookup* lookup, bool first_cell_only)
      : table_(table),
        row_key_(row_key),
        program_(*program),
        lookup_(*lookup),
        options_(ReadChainOptions(table.definition(), *program, lookup->apply_gc, lookup->now)),
        assembler_(program, &lookup->interruption,
                   {.piece_bytes = ResultBytesLeft(),
                    .first_cell_only = first_cell_only,
                    .stats = &stats_,
                    .memory_tracker = lookup->memory_tracker}) {
    options_.sequence = lookup->sequence;
    options_.fill_cache = lookup->fill_cache;
    options_.only_row = row_key;
    options_.latest_only |= first_cell_only && program->is_decided_by_newest();
  }

  // Returns false if no cell passes.
  absl::StatusOr<bool> Read();
  // After Read returned true: the row, and its cost counted in the lookup.
  absl::StatusOr<std::optional<Row>> MakeRow();

 private:
  uint64_t ResultBytesLeft() const {
    return kResultBytesMax - std::min(lookup_.result_bytes, kResultBytesMax - 1);
  }
  absl::StatusOr<bool> ReadChain(const RowSources& sources);

  const TableView& table_;
  const std::string_view row_key_;
  FilterProgram& program_;
  RowLookup& lookup_;
  ChainOptions options_;
  PlainRow plain_;
  std::unique_ptr<CellCursor> chain_;
  CursorStats stats_;
  RowAssembler assembler_;
};

absl::StatusOr<bool> RowRead::Read() {
  STELE_RETURN_IF_ERROR(lookup_.interruption.Check());
  if (!assembler_.StartRow(row_key_)) return false;
  const ViewTablet& tablet = table_.tablets[TabletIndexOf(table_, row_key_)];
  tablet.CountReads(1);
  RowSources sources(table_, options_);
  STELE_RETURN_IF_ERROR(sources.Find(tablet));
  STELE_ASSIGN_OR_RETURN(const RowForm form,
                         program_.in_place() ? sources.ReadPlain(&plain_) : RowForm::kOther);
  if (form == RowForm::kAbsent) return false;
  if (form == RowForm::kPlain) return assembler_.ReadPlain(plain_, options_.retention);
  return ReadChain(sources);
}

absl::StatusOr<bool> RowRead::ReadChain(const RowSources& sources) {
  options_.stats = &stats_;
  chain_ = sources.Merge();
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

absl::StatusOr<std::optional<Row>> RowRead::MakeRow() {
  const std::span<const Cell> cells = assembler_.piece();
  for (const Cell& cell : cells) lookup_.result_bytes += CellBytes(cell);
  lookup_.result_bytes += cells.size() * kCellObjectBytes;
  if (assembler_.has_more() || lookup_.result_bytes > kResultBytesMax) {
    return ResourceExhausted(
        "the result exceeds {} bytes at row \"{}\"; read it in parts with ReadRows, or request "
        "less "
        "at once",
        kResultBytesMax, Printable(row_key_));
  }
  absl::InlinedVector<CellView, kCommonCellCount> views;
  views.reserve(cells.size());
  AppendViews(cells, table_.definition().families, program_, &views);
  return std::optional<Row>(std::in_place, Access::Make<RowView>(row_key_, views));
}

}  // namespace

absl::StatusOr<std::optional<Row>> LookUpRow(const TableView& table, std::string_view row_key,
                                             FilterProgram* program, RowLookup* lookup) {
  RowRead row(table, row_key, program, lookup, /*first_cell_only=*/false);
  STELE_ASSIGN_OR_RETURN(const bool found, row.Read());
  if (!found) return std::nullopt;
  return row.MakeRow();
}

absl::StatusOr<bool> HasPassingCell(const TableView& table, std::string_view row_key,
                                    FilterProgram* program, RowLookup* lookup) {
  return RowRead(table, row_key, program, lookup, /*first_cell_only=*/true).Read();
}

}  // namespace stele::internal
