// filter/program.h: a Filter, compiled for one table's families and applied to the cells of one row
// after the other.
//
// Used by:   state/read_path.cc compiles it. read/row_assembler.cc calls StartRow for each row and
//            then Run with the cells as they are read. read/pass_reader.cc runs several passes.
//            read/chain_options.cc restricts the sources to wanted_families().
// Calls:     filter/compile.h once, filter/run_stages.h for each row.
// How:       a chain is a list of stages (stage.h); a cell passes if it passes all of them. A list
//            whose stages only drop or change cells runs in place, batch by batch. A list with
//            sinks, interleaves or conditions (run_stages.h) needs several passes over the row, and
//            read/pass_reader.h supplies the cells for each pass.
// Skipping:  reach.h computes once which cells the program needs to see, so that sources leave out
//            the others. A row can be entered in the middle and left early. A row limit counts all
//            cells that reach it, so a stage after it cannot cause skipping.
// Errors:    InvalidArgument for filters that compile.h refuses. ValidateFilter has checked
//            everything else.
// Threads:   thread-compatible; copies are independent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell.h"
#include "cell/family_list.h"
#include "cell/timestamp_span.h"
#include "filter/column_ranges.h"
#include "filter/run_stages.h"
#include "filter/stage.h"
#include "model/row_ranges.h"
#include "stele/filter.h"

namespace stele::internal {

struct CompiledFilter;

class FilterProgram {
 public:
  FilterProgram() = default;  // passes all cells
  // A row sample is random for each program, or determined by the seed.
  static absl::StatusOr<FilterProgram> Compile(const Filter& filter, const FamilyList& families,
                                               std::optional<uint64_t> sample_seed = std::nullopt);

  // The program of Chain(Column(family, qualifier), Latest(1)), without the cost of a Filter. An
  // unknown family gives a program that passes nothing.
  static FilterProgram OfNewestCell(std::string_view family, std::string_view qualifier,
                                    const FamilyList& families);

  // Element `family index - 1` is true if the program needs cells of the family. An empty set
  // stands for all families. Only a program with a row limit or row offset needs families whose
  // cells cannot pass.
  const FamilySet& wanted_families() const { return wanted_families_; }
  // False if no cell of any row can pass.
  bool may_pass() const { return may_pass_; }
  // No cell of a row outside this range can pass.
  const KeyRange& rows() const { return rows_; }
  // Versions outside this span can neither pass nor affect other cells, so sources may leave out
  // any of them.
  const TimestampSpan& timestamps() const { return timestamps_; }
  // True if the result depends only on the newest version of each column.
  bool latest_only() const { return latest_only_; }
  // True if the newest versions determine whether any cell of a row passes.
  bool is_decided_by_newest() const { return is_decided_by_newest_; }
  // The only column that the program looks at: its family, and its qualifier in `first`. Null if
  // there are more.
  const ColumnRange* sole_column() const {
    return columns_.ranges().size() == 1 && columns_.ranges().front().IsOneColumn()
               ? &columns_.ranges().front()
               : nullptr;
  }
  bool passes_all() const { return may_pass_ && in_place_ && stages_.empty(); }
  // True: call Run. False: call RunPass.
  bool in_place() const { return in_place_; }

  enum class Next : uint8_t {
    kContinue,  // continue with the row's next cells
    // Only cells from the column (skip_family(), skip_qualifier()) on can pass; a hint for
    // CellCursor::SkipTo.
    kSkipTo,
    kRowDone,  // nothing more of this row can pass, or this pass needs no more cells
  };
  // Call before a row's first cells. Returns kSkipTo if the cells that can pass begin at a known
  // column.
  Next StartRow(std::string_view row_key);
  // Returns StartRow's result again, for a row that is read again from its beginning.
  Next Entry();
  // Filters cells [begin, size) in place: cells of the row in order, versions only, no tombstones.
  // State is kept from batch to batch, but no view of the cells.
  Next Run(std::vector<Cell>* cells, size_t begin);
  uint32_t skip_family() const { return skip_family_; }
  std::string_view skip_qualifier() const { return skip_qualifier_; }

  // For programs that do not run in place: each pass sees all cells of the row. StartPass returns
  // false if the pass is not needed.
  uint32_t pass_count() const { return pass_count_; }
  bool StartPass(uint32_t pass) { return run_->StartPass(pass); }
  // Processes the row's next cells, in the same order as for Run, at most cells_at_once() per call.
  // The last pass appends the cells that pass to `out`.
  Next RunPass(std::span<const Cell> cells, std::vector<Cell>* out);
  size_t cells_at_once() const { return cells_at_once_; }

  bool has_labels() const { return !labels_.empty(); }
  // The labels of a cell. The span lives as long as the program.
  std::span<const std::string> LabelsOf(const Cell& cell) const {
    return cell.label == 0 ? std::span<const std::string>()
                           : std::span<const std::string>(&labels_[cell.label - 1], 1);
  }

 private:
  FilterProgram(CompiledFilter compiled, size_t family_count);

  void FindReach(const StageList& stages, size_t family_count);
  void StartColumn(const Cell& cell);
  StageResult Evaluate(Cell* cell);
  Next Conclude(const Cell& last);

  StageList stages_;  // if in place; otherwise in run_
  FamilySet wanted_families_;
  bool may_pass_ = true;
  bool in_place_ = true;
  bool evaluates_rows_ = false;
  bool latest_only_ = false;
  bool is_decided_by_newest_ = true;
  bool knows_columns_ = false;  // a stage looks at more than one cell of a column
  uint32_t pass_count_ = 1;
  size_t cells_at_once_ = 0;
  TimestampSpan timestamps_;
  // Cells outside these columns neither pass nor count; empty if all may pass.
  ColumnRanges columns_;
  KeyRange rows_ = KeyRange::All();
  std::vector<std::string> labels_;
  std::optional<StageRun> run_;  // nullopt: in place

  // State of the current row.
  uint32_t column_family_ = kRowFamily;  // kRowFamily: none yet
  std::string column_qualifier_;
  uint64_t dropped_count_ = 0;  // cells of the column dropped since the column was done
  bool column_done_ = false;
  bool row_done_ = false;
  uint32_t skip_family_ = kRowFamily;
  std::string skip_qualifier_;
};

}  // namespace stele::internal
