// merge/row_merge.h: merges the cells of one row from many resolved sources, newest first, into one
// resolved source.
//
// Used by:   merge/merge_cursor.cc passes the cursors that are positioned on the same row. This
//            class decides which versions are kept.
// How:       sources are ordered by their current column. If only one source has the next columns,
//            its cells are copied up to the column of the second source in this order. Sources with
//            the same column are merged by timestamp, with one active range tombstone per source.
//            Cells hidden by a row tombstone are never read; those hidden by a family tombstone are
//            skipped at the source. A row whose sources have returned all of it, without
//            tombstones, deltas and large values, is merged in one pass.
// Deltas:    deltas of one cell key are folded over all sources that no newer tombstone hides
//            (engine rule 15).
// Memory:    no bytes are copied, except folded values. A source is unpinned when all its buffered
//            cells were returned. A batch ends early if a source must be unpinned before more of it
//            is read. So a very large row pins about two batches per source at most. If the caller
//            reads many batches before it unpins, as for a partial row, the leftover cells are
//            copied.
// History:   sources that return only the latest versions leave out older ones. The newest version
//            over all sources is among the returned ones, unless a range tombstone hid it. Then the
//            rest of that column is read (engine rule 13), down to the first version that is not
//            hidden.
// Errors:    the first failure of a source, DataLoss for a malformed delta, ResourceExhausted for
//            refused memory. ReadCells returns false from then on.
// Threads:   confined, like the cursors.
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
  // Starts a new row and discards the state of the previous one. Reads nothing yet. `sole_column`
  // must outlive the row. AddSource will be called `source_count` times.
  void StartRow(const SoleColumn& sole_column, size_t source_count);
  // Adds the next older source of the row. Its cursor is on the row and stays there while the row
  // lasts. No version of the sole column in the sources after it is newer than `older_greatest`.
  void AddSource(CellCursor* cursor, int64_t older_greatest);

  // As in CellCursor.
  bool ReadCells(std::vector<Cell>* cells);
  bool IsRowDone() const {
    return started_ && !column_is_open_ && group_.empty() && order_.empty();
  }
  void SkipTo(uint32_t family, std::string_view qualifier);
  void Unpin();
  const absl::Status& status() const { return status_; }

 private:
  struct SkipTarget {
    uint32_t family = 0;  // 0: nothing is skipped
    std::string qualifier;
  };
  // The range tombstones of a column that were read so far. Each covers all timestamps from the
  // current one down to its start. So the one with the least start covers what all of them cover.
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
    std::vector<Cell> cells;  // [next, end) are not merged yet
    size_t next = 0;
    bool ended = false;
    // The caller called Unpin, but this cursor was not unpinned, because that would release
    // buffered cells.
    bool is_unpin_due = false;
    uint32_t batch_count = 0;  // read since the cursor was last unpinned
    Buffer held;               // copied bytes of buffered cells, which the cursor has released
    bool in_column = false;    // the current cell belongs to the open column
    uint32_t hidden_count = 0;
    // The source's version of the open column was hidden, and none was returned. The older
    // versions, which the source left out, may be visible. They are merged with the source's other
    // cells of the column, which include its range tombstones.
    bool wants_history = false;
    std::vector<Cell> history;  // [history_next, end) are not merged yet
    size_t history_next = 0;
    int64_t older_greatest = 0;  // for the sole column
    ActiveRange active;          // in the open column
    SkipTarget skip;

    bool drained() const { return next == cells.size(); }
    bool has_history() const { return history_next < history.size(); }
    const Cell& current() const { return cells[next]; }
    std::span<const Cell> cells_left() const { return std::span(cells).subspan(next); }
  };

  void ReadFirstBatches(std::vector<Cell>* cells);
  bool HasWholePlainRow() const;
  void MergeWholeRow(std::vector<Cell>* cells);
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
  bool IsCovered(const Cell& tombstone) const {
    return row_is_deleted_ || tombstone.family == deleted_family_;
  }

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

  // The first source_count_ are the sources of this row, newest first. The others keep their
  // buffers for later rows.
  std::vector<Source> sources_;
  size_t source_count_ = 0;
  bool started_ = false;
  SkipTarget skip_before_start_;
  const SoleColumn* sole_column_ = nullptr;
  // Each source with cells left is in one of these two. Only sources of the group advance, so only
  // they can run out of buffered cells.
  std::vector<uint32_t> order_;  // by current column, then newest first
  // The sources that have the open column, newest first, even if they have no more cells of it.
  std::vector<uint32_t> group_;
  bool column_is_open_ = false;
  // Family and qualifier of the open column. The qualifier's bytes are pinned, or in
  // column_qualifier_.
  Cell column_;
  std::string column_qualifier_;
  bool has_version_ = false;   // a version of the open column was returned
  ActiveRange output_active_;  // the range tombstones returned in the open column
  bool row_is_deleted_ = false;
  uint32_t deleted_family_ = kRowFamily;  // the last family whose tombstone was read
  // For the cell key being merged.
  uint32_t delta_count_ = 0;
  Fold fold_;
  std::optional<Arena> folded_;  // values of returned cells, until Unpin
  absl::Status status_;
};

}  // namespace stele::internal
