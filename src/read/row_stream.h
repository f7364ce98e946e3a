// read/row_stream.h: rows from ranges: plans the tablets, runs the chain and the filter, assembles rows and pieces of rows.
//
// Path:      db's table -> here (as the public RowSource) -> read/source_chain.h, filter/program.h.
// Memory:    what was replaced in the pinned view is let go at once where the reader is at rest (read/reader_rest.h), but for what the row
//            that its user was shown lies in, and for what a row in pieces is read from; else at the next row; all of it at the end.
// Pieces:    a row above piece_bytes is handed out in pieces; so is one of very many small cells, which cost more than their bytes. Whether
//            a piece is the last is known by reading on until another cell passes the filter or the row ends; that look-ahead batch is
//            copied before the piece's memory is given back. While a piece is collected its cells' arrays and their bytes are each
//            piece_bytes at most, and what is pinned or was copied for them a few times their bytes (row_pins.h).
// Errors:    DataLoss of a source; Cancelled, DeadlineExceeded; FailedPrecondition once the database is closed. Rows before stay right.
// Threads:   confined to one thread at a time; the view it holds is immutable. Between two calls of Next another thread may take up a
//            replaced view, which changes nothing that row(), status() and stats() show.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory_budget.h"
#include "filter/program.h"
#include "read/interruption.h"
#include "read/pass_reader.h"
#include "read/read_view.h"
#include "read/reader_rest.h"
#include "read/row_pins.h"
#include "read/source_chain.h"

namespace stele::internal {

struct RowStreamOptions {
  std::shared_ptr<const void> keep_alive;          // the database; first, so that it goes last
  std::atomic<uint64_t>* history_reads = nullptr;  // a count of the database's, may be null: columns whose history a latest read needed
  std::shared_ptr<const PinnedView> pin;           // may be null; what `table` is taken from again when a view was replaced
  uint64_t sequence = 0;
  int64_t now = 0;  // against which ages are measured
  std::shared_ptr<const TableView> table;
  std::vector<KeyRange> ranges;  // ascending, disjoint; read from the last one when reverse
  FilterProgram program;
  int64_t limit = 0;
  bool reverse = false;
  bool apply_gc = true;
  bool fill_cache = true;
  uint64_t piece_bytes = uint64_t{16} << 20;  // no more than an eighth of the budget counts
  bool any_cell = false;                      // whether a row has any is all that is asked: no piece of one tells whether it is the last
  AheadRunner* ahead = nullptr;               // lives as long as what keep_alive holds
  MemoryBudget* budget = nullptr;             // what is held for a piece is charged to it; may be null
  Interruption interruption;
  std::function<void(std::string_view)> on_progress;  // may be empty
};

class RowStream : public RowSource {
 public:
  explicit RowStream(RowStreamOptions options);
  ~RowStream() override;

  bool Next() override;
  const RowView& row() const override { return row_; }
  absl::Status status() const override { return status_; }
  ReadStats stats() const override;

 private:
  // One range within one tablet: what a chain is opened for.
  struct Stretch {
    size_t tablet_index = 0;
    KeyRange range;
  };

  void PlanStretches();
  bool OpenStretch();
  bool NextRow();
  bool AdvanceToRow();
  void BeginTakingUp();
  void TakeUp();
  bool ReopenChain();
  void CountReads();
  bool End();
  bool FirstRowOfStretch();
  bool InStretch() const;
  bool ReadRow();
  bool ReadPiece();
  bool ReadBatch();
  bool ReadInPasses();
  bool AfterBarrenBatch();
  void Reserve();
  bool DropShownCells();
  bool Hold();
  void ChargeHeld();
  void EmitPiece(size_t end);
  void ShowCells(size_t end);
  bool Interrupted();
  void ReportProgress(std::string_view scanned_through);
  bool Fail(absl::Status status);

  RowStreamOptions options_;
  const uint64_t piece_bytes_;
  const size_t piece_cells_max_;
  std::vector<Stretch> stretches_;
  size_t stretch_next_ = 0;
  std::unique_ptr<CellCursor> chain_;
  bool chain_is_for_one_row_ = false;
  size_t chain_tablet_ = 0;
  uint64_t reads_uncounted_ = 0;  // of that tablet
  bool stretch_open_ = false;
  bool stretch_started_ = false;
  std::shared_ptr<ReaderRest> rest_;  // null: no view that could be replaced is pinned
  uint64_t replacements_seen_ = 0;    // of the pin
  // A chain over a view that was replaced is opened anew before it is moved: its memtables are gone. Until then the row shown lies in it.
  std::shared_ptr<const TableView> chain_files_;  // what is left of that view; null: the chain is over `table`
  ArenaBlocks kept_blocks_;                       // of its memtables, what the row shown lies in
  MemoryCharge kept_charge_;
  std::optional<std::string> row_passed_;  // after a change of views: go on behind it, not at the stretch's edge

  std::vector<Cell> cells_;  // of pieces shown, then what was read ahead of them
  size_t shown_ = 0;         // of cells_: in the current piece or an earlier one
  bool row_open_ = false;    // more pieces of the current row follow
  bool row_done_ = false;    // nothing more of the row can pass
  PassReader passes_;        // where the program does not run in place
  RowPins pins_{&cursor_stats_};
  Buffer held_;          // bytes of cells read ahead
  MemoryCharge charge_;  // of held_, and of the arrays of a large row
  std::vector<CellView> views_;
  RowView row_;
  Buffer poison_;  // invariants builds: the row's bytes, overwritten by the next Next()
  std::vector<CellView> poisoned_views_;

  CursorStats cursor_stats_;
  ReadStats stats_;
  absl::Status status_;
  int64_t rows_returned_ = 0;
  uint64_t barren_count_ = 0;                          // of rows and batches since a row was asked for
  std::chrono::steady_clock::time_point progress_at_;  // when progress was reported, or looked at first, since then
};

}  // namespace stele::internal
