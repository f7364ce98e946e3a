// filter/program.h: a Filter, compiled for one table's families, and run over the cells of one row after the other.
//
// Path:      Filter -> Compile -> read: project the sources to wanted_families(), then per row StartRow, and Run on each batch of cells.
// How:       a chain is a list of stages; a cell passes if it passes all. What the whole list says of families and qualifiers is worked
//            out once, so that a row can be entered in the middle and left early. A row limit counts what reaches it, so nothing may be
//            skipped on account of a stage behind it.
// Errors:    Unimplemented for kinds of filter that are not offered. The filter has been judged by ValidateFilter before.
// Threads:   thread-compatible; copies are independent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell.h"
#include "cell/family_list.h"
#include "cell/timestamp_span.h"
#include "stele/filter.h"

namespace stele::internal {

class FilterProgram {
 public:
  static absl::StatusOr<FilterProgram> Compile(const Filter& filter, const FamilyList& families);

  // By family rank - 1: whether the program must see the family's cells. Without a row limit these are the families that can pass.
  const std::vector<bool>& wanted_families() const { return wanted_families_; }
  // False: no cell of any row can pass.
  bool may_pass() const { return may_pass_; }
  // Versions outside of it can neither pass nor change what does, whatever a source leaves out of them.
  const TimestampSpan& timestamps() const { return timestamps_; }
  // Of each column only the newest version is looked at.
  bool latest_only() const;
  bool passes_all() const { return may_pass_ && stages_.empty(); }

  enum class Next : uint8_t {
    kContinue,  // go on with the row's next cells
    kSkipTo,    // nothing before the column (skip_family(), skip_qualifier()) can pass; a hint for CellCursor::SkipTo
    kRowDone,   // nothing more of this row can pass
  };
  // Before a row's first cells; kSkipTo if what passes begins at a known column.
  Next StartRow(std::string_view row_key);
  // Filters cells [begin, size) in place: cells of the row in order, versions only, no tombstones. What it must know of the cells is kept
  // from batch to batch, and no view of them.
  Next Run(std::vector<Cell>* cells, size_t begin);
  uint32_t skip_family() const { return skip_family_; }
  std::string_view skip_qualifier() const { return skip_qualifier_; }

 private:
  // A range of columns: all, or [first, end) of one family.
  struct Columns {
    uint32_t family = kRowRank;  // kRowRank: of any family
    std::string first;
    std::optional<std::string> end;  // none: to the family's last

    bool StartsBehind(const Cell& cell) const { return cell.family != family ? cell.family < family : cell.qualifier < first; }
    bool EndsBefore(uint32_t cell_family, std::string_view qualifier) const {
      return cell_family != family ? cell_family > family : end.has_value() && qualifier >= *end;
    }
    bool IsEmpty() const { return end.has_value() && first >= *end; }
  };
  enum class StageKind : uint8_t { kColumns, kTimestamps, kLatest, kRowLimit };
  struct Stage {
    StageKind kind = StageKind::kColumns;
    bool may_skip = true;  // no row limit stands before it
    Columns columns;
    int64_t start = 0;           // kTimestamps: [start, end)
    std::optional<int64_t> end;  // none: unbounded
    uint64_t count_limit = 0;    // kLatest, kRowLimit
    uint64_t count = 0;          // of the current column, or row
  };
  // What a stage, or all, say of a cell.
  struct Verdict {
    bool passes = true;
    bool column_done = false;  // nothing after it in its column passes, nor is counted
    bool row_done = false;     // nothing after it in its row passes
  };

  absl::Status AddStages(const FilterNode& node, const FamilyList& families);
  void AddStage(Stage stage);
  void AddTimestamps(const FilterNode& node);
  void AddColumns(Columns columns, bool is_known);
  void AddCount(StageKind kind, int count_limit);
  void Finish(size_t family_count);
  static void Narrow(Columns* columns, const Columns& by, bool* may_pass);

  void StartColumn(const Cell& cell);
  Verdict Judge(const Cell& cell);
  static Verdict JudgeByStage(const Cell& cell, Stage* stage);
  Next Conclude(const Cell& last);

  std::vector<Stage> stages_;
  std::vector<bool> wanted_families_;
  bool may_pass_ = true;
  bool has_row_limit_ = false;
  bool counts_versions_ = false;
  bool knows_columns_ = false;  // a stage looks at more than one cell of a column
  TimestampSpan timestamps_;
  TimestampSpan passing_;  // what no cell outside of can pass
  Columns entry_;          // what no cell outside of can pass or be counted
  Columns bounds_;         // what no cell outside of can pass

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
