// filter/program.h: a Filter, compiled for one table's families, and run over the cells of one row after the other.
//
// Path:      Filter -> Compile -> read: project the sources to wanted_families(), then per row StartRow, and the row's cells through Run or
//            RunPass as they are read.
// How:       a chain is a list of stages (stage.h); a cell passes if it passes all. A list of stages that only drop or change a cell runs
//            in place, batch by batch. One with sinks, interleaves or conditions (run_stages.h) takes passes over the row:
//            read/pass_reader.h sees to it that the cells are there as often as needed.
// Skipping:  what the whole program has to see (reach.h) is worked out once, so that sources leave the rest out, and a row can be entered
//            in the middle and left early. A row limit counts what reaches it, so nothing may be skipped on account of a stage behind it.
// Errors:    InvalidArgument for what compile.h refuses. All else of the filter has been judged by ValidateFilter before.
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

class FilterProgram {
 public:
  FilterProgram() = default;  // passes all
  // A sample draws anew for each program, or by the seed.
  static absl::StatusOr<FilterProgram> Compile(const Filter& filter, const FamilyList& families,
                                               std::optional<uint64_t> sample_seed = std::nullopt);

  // By family rank - 1: whether the program must see the family's cells; empty: all. Without a row limit these are the families that can
  // pass.
  const std::vector<bool>& wanted_families() const { return wanted_families_; }
  // False: no cell of any row can pass.
  bool may_pass() const { return may_pass_; }
  // No cell of another row can pass.
  const KeyRange& rows() const { return rows_; }
  // Versions outside of it can neither pass nor change what does, whatever a source leaves out of them.
  const TimestampSpan& timestamps() const { return timestamps_; }
  // Of each column only the newest version is looked at.
  bool latest_only() const { return latest_only_; }
  // Whether any cell of a row passes, the newest versions tell.
  bool is_decided_by_newest() const { return is_decided_by_newest_; }
  // The one column that all the program looks at lies in: its family and, in `first`, its qualifier; null: there are more.
  const ColumnRange* sole_column() const {
    return columns_.ranges().size() == 1 && columns_.ranges().front().IsOneColumn() ? &columns_.ranges().front() : nullptr;
  }
  bool passes_all() const { return may_pass_ && in_place_ && stages_.empty(); }
  // Run is for this program; else RunPass.
  bool in_place() const { return in_place_; }

  enum class Next : uint8_t {
    kContinue,  // go on with the row's next cells
    kSkipTo,    // nothing before the column (skip_family(), skip_qualifier()) can pass; a hint for CellCursor::SkipTo
    kRowDone,   // nothing more of this row can pass; or the pass needs no more of it
  };
  // Before a row's first cells; kSkipTo if what passes begins at a known column.
  Next StartRow(std::string_view row_key);
  // StartRow's answer again, for a row that is read once more and is not done.
  Next Entry();
  // Filters cells [begin, size) in place: cells of the row in order, versions only, no tombstones. What it must know of the cells is kept
  // from batch to batch, and no view of them.
  Next Run(std::vector<Cell>* cells, size_t begin);
  uint32_t skip_family() const { return skip_family_; }
  std::string_view skip_qualifier() const { return skip_qualifier_; }

  // Where not in place: pass after pass each sees the row's cells from the first on. False: the pass is not needed.
  uint32_t pass_count() const { return pass_count_; }
  bool StartPass(uint32_t pass) { return run_->StartPass(pass); }
  // The row's next cells, as Run takes them; the last pass appends what passes to `out`. Not more at once than cells_at_once().
  Next RunPass(std::span<const Cell> cells, std::vector<Cell>* out);
  size_t cells_at_once() const { return cells_at_once_; }

  bool has_labels() const { return !labels_.empty(); }
  // Lives as long as the program.
  std::span<const std::string> LabelsOf(const Cell& cell) const {
    return cell.label == 0 ? std::span<const std::string>() : std::span<const std::string>(&labels_[cell.label - 1], 1);
  }

 private:
  void FindReach(const StageList& stages, size_t family_count);
  void StartColumn(const Cell& cell);
  Verdict Judge(Cell* cell);
  Next Conclude(const Cell& last);

  StageList stages_;  // in place; else in run_
  std::vector<bool> wanted_families_;
  bool may_pass_ = true;
  bool in_place_ = true;
  bool judges_rows_ = false;
  bool latest_only_ = false;
  bool is_decided_by_newest_ = true;
  bool knows_columns_ = false;  // a stage looks at more than one cell of a column
  uint32_t pass_count_ = 1;
  size_t cells_at_once_ = 0;
  TimestampSpan timestamps_;
  ColumnRanges columns_;  // what no cell outside of can pass or be counted; none where all pass
  KeyRange rows_ = KeyRange::All();
  std::vector<std::string> labels_;
  std::optional<StageRun> run_;  // none: in place

  // Of the row that is being read.
  uint32_t column_family_ = kRowRank;  // kRowRank: none yet
  std::string column_qualifier_;
  uint64_t dropped_count_ = 0;  // of the column, since it is done
  bool column_done_ = false;
  bool row_done_ = false;
  uint32_t skip_family_ = kRowRank;
  std::string skip_qualifier_;
};

}  // namespace stele::internal
