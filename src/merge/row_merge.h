// merge/row_merge.h: the cells of one row from many resolved sources, newest first, as one resolved source.
//
// Path:      merge_cursor hands over the cursors that stand on the same row; everything that decides between versions is here.
// How:       Sources are kept in the order of their current column. Where one source alone has the next columns its cells are copied in
//            runs, up to the runner-up's column. Where several have one column they are merged by timestamp, with one active range
//            tombstone per source. What a row tombstone hides is never read; what a family tombstone hides is skipped at the source.
// Deltas:    those of one identity are folded over all sources that no newer tombstone hides (engine rule 15).
// Memory:    no bytes are copied, but for folded values. A source's pins are given back when its buffered cells have all been handed out,
//            so a batch ends early where a source whose pins are owed must be read on: a giant row pins at most about two batches per
//            source. For a user that reads many batches before it lets go of them, as for a piece of a row, the cells left over are copied.
// History:   sources asked for the latest versions only leave out older ones. The newest of all sources is among what they hand out, unless
//            a range tombstone hid it: then the rest of that column is asked for (engine rule 13), down to the first that is not hidden.
// Errors:    the first failure of a source, DataLoss for a delta that is none, ResourceExhausted for refused memory; from then on
//            ReadCells answers false.
// Threads:   confined, as the cursors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/buffer.h"
#include "cell/cell_cursor.h"
#include "cell/fold.h"
#include "merge/sole_column.h"

namespace stele::internal {

class RowMerge {
 public:
  // A new row; what was known of the old one is dropped. Nothing is read yet. `sole_column` outlives the row.
  void StartRow(const SoleColumn& sole_column);
  // The next older source of the row; its cursor stands on the row and stays there while the row lasts. No version of the sole column in
  // the sources behind it is newer than `older_greatest`.
  void AddSource(CellCursor* cursor, int64_t older_greatest);

  // As in CellCursor.
  bool ReadCells(std::vector<Cell>* cells);
  void SkipTo(uint32_t family, std::string_view qualifier);
  void Unpin();
  const absl::Status& status() const { return status_; }

 private:
  struct SkipTarget {
    uint32_t family = 0;  // 0: nothing is skipped
    std::string qualifier;
  };
  // The range tombstones met on the way down a column cover, from here down, just what the one with the least start covers.
  struct ActiveRange {
    bool any = false;
    int64_t start = 0;

    bool Covers(int64_t timestamp) const { return any && start <= timestamp; }
    void Add(int64_t range_start) {
      start = any ? std::min(start, range_start) : range_start;
      any = true;
    }
    void Add(const ActiveRange& other) {
      if (other.any) Add(other.start);
    }
  };
  struct Source {
    CellCursor* cursor = nullptr;
    std::vector<Cell> cells;  // [next, end) are still to be merged
    size_t next = 0;
    bool ended = false;
    bool unpin_owed = false;   // the user let go of cells, but buffered ones were among those the cursor would have let go of
    uint32_t batch_count = 0;  // read since the cursor was last told to unpin
    Buffer held;               // bytes of buffered cells, which the cursor let go of
    bool in_column = false;    // the current cell belongs to the open column
    uint32_t hidden_count = 0;
    // A version of the open column was hidden, and none was handed out: older ones, which the source left out, may not be hidden. They are
    // merged beside its other cells of the column, whose range tombstones stand among them.
    bool wants_history = false;
    std::vector<Cell> history;  // [history_next, end) are still to be merged
    size_t history_next = 0;
    int64_t older_greatest = 0;  // of the sole column
    ActiveRange active;          // in the open column
    SkipTarget skip;

    bool drained() const { return next == cells.size(); }
    bool has_history() const { return history_next < history.size(); }
    const Cell& current() const { return cells[next]; }
    std::span<const Cell> cells_left() const { return std::span(cells).subspan(next); }
  };

  void ReadFirstBatches(std::vector<Cell>* cells);
  bool Refill(Source& source);
  void UnpinSource(Source& source);
  bool RefillGroup(bool has_output);
  static bool LiesBefore(const Cell& cell, const SkipTarget& target);
  static void DropSkipped(Source& source);
  static void SkipSource(Source& source, uint32_t family, std::string_view qualifier);

  bool OrderedBefore(uint32_t a, uint32_t b) const;
  void ReturnGroup();
  void OpenGroup();
  bool IsCurrentColumn(const Cell& cell) const { return CompareColumn(cell, column_) == 0; }
  bool IsCovered(const Cell& tombstone) const { return row_is_deleted_ || tombstone.family == deleted_family_; }

  void MergeFamilyTombstone(std::vector<Cell>* cells);
  void CopyRun(std::vector<Cell>* cells, size_t limit);
  void MergeColumn(std::vector<Cell>* cells, size_t begin);
  const Cell* NextInColumn() const;
  void MergeVersion(int64_t timestamp, std::vector<Cell>* cells);
  void EndHistory();
  void Hide(Source& source, const ActiveRange& newer);
  void AddDelta(const Cell& delta, Cell* sum);
  void FinishDelta(Cell* sum);
  void MergeRangeTombstones(int64_t timestamp, std::vector<Cell>* cells);
  bool AdvanceInColumn(int64_t timestamp, CellKind kind);
  bool AdvanceHistory(Source& source, int64_t timestamp);

  std::vector<Source> sources_;  // [0, source_count_) are of this row, newest first; the rest keep their buffers for other rows
  size_t source_count_ = 0;
  bool started_ = false;
  SkipTarget skip_before_start_;
  const SoleColumn* sole_column_ = nullptr;
  // Each source with cells left is in one of the two. Only those of the group move, so only they can be drained.
  std::vector<uint32_t> order_;  // by current column, then newest first
  std::vector<uint32_t> group_;  // newest first while a column is open: those that had it, even if they are through with it
  bool column_is_open_ = false;
  Cell column_;  // family and qualifier of the open column; the qualifier's bytes are pinned, or in column_qualifier_
  std::string column_qualifier_;
  bool has_version_ = false;   // one of the open column was handed out
  ActiveRange output_active_;  // of the range tombstones handed out in the open column
  bool row_is_deleted_ = false;
  uint32_t deleted_family_ = kRowRank;  // the last family whose tombstone was met
  // Of the identity being merged.
  uint32_t delta_count_ = 0;
  Fold fold_;
  std::optional<Arena> folded_;  // values of cells handed out, until Unpin
  absl::Status status_;
};

}  // namespace stele::internal
