// read/row_assembler.h: collects the cells of a row that pass a filter, whole or in pieces.
//
// Used by:   read/row_stream.cc (rows in pieces), read/row_lookup.cc (one whole row, or whether it
//            has any cell).
// Calls:     filter/program.h, and the cursor that is on the row.
// Pieces:    a row above piece_bytes is returned in pieces, and so is a row of very many small
//            cells, because each cell costs memory in addition to its bytes. To know whether a
//            piece is the last, the assembler reads on until another cell passes the filter or the
//            row ends. It copies the cells that it read in advance before it releases the memory of
//            the piece.
// Memory:    the cells are views of memory that the cursor pins. If little of a large row passes,
//            the cells are copied and the cursor is unpinned, as soon as the copies are smaller
//            than the pinned memory (CursorStats.bytes_pinned). If everything passes, nothing is
//            copied. While a piece is collected, the arrays of its cells and their bytes are each
//            piece_bytes at most, and pinned and copied memory is a few times their bytes.
// Errors:    status(): that of the cursor; of an interruption; ResourceExhausted for refused
//            memory.
// Threads:   confined; program, interruption, cursor and statistics must outlive the reading.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/buffer.h"
#include "base/memory_tracker.h"
#include "cell/cell_cursor.h"
#include "filter/program.h"
#include "read/interruption.h"
#include "read/pass_reader.h"
#include "read/row_cursors.h"
#include "stele/row.h"

namespace stele::internal {

// The memory that a cell costs a reader in addition to its bytes, while it is collected and shown.
inline constexpr size_t kCellObjectBytes = sizeof(Cell) + sizeof(CellView);

// Reports the progress of a scan while no row passes its filter, at most once per `interval`.
class ScanProgress {
 public:
  using Report = std::function<void(std::string_view scanned_through)>;
  ScanProgress(Report report, std::chrono::steady_clock::duration interval)
      : report_(std::move(report)), interval_(interval) {}

  // Call when the caller requests the next row.
  void Restart() { empty_batch_count_ = 0; }
  // Call when no cell of a row or batch passed. An empty key: the scan is still within a row.
  void CountEmptyBatch(std::string_view scanned_through) {
    if (report_ != nullptr && ++empty_batch_count_ % kEmptyBatchesPerClock == 0)
      ReportIfDue(scanned_through);
  }

 private:
  static constexpr uint64_t kEmptyBatchesPerClock = 64;  // the same as in Interruption::Check
  void ReportIfDue(std::string_view scanned_through);

  const Report report_;  // may be empty
  const std::chrono::steady_clock::duration interval_;
  uint64_t empty_batch_count_ = 0;  // rows and batches since the last Restart
  std::chrono::steady_clock::time_point reported_at_;
};

struct RowAssemblerOptions {
  uint64_t piece_bytes = 0;
  bool first_cell_only = false;  // read only until one cell passes
  Direction direction = Direction::kForward;
  const CursorStats* stats = nullptr;       // those of the cursors
  ScanProgress* progress = nullptr;         // may be null
  MemoryTracker* memory_tracker = nullptr;  // is charged for copies and large arrays; may be null
};

class RowAssembler {
 public:
  RowAssembler(FilterProgram* program, Interruption* interruption,
               const RowAssemblerOptions& options);

  // Begins a row. Returns false if no cell of it can pass.
  bool StartRow(std::string_view row_key);
  // Reads the first piece from a cursor that is on the row and has not read it. Returns false if no
  // cell passes, or if status() is not OK.
  bool Read(CellCursor* cursor);
  // Reads the row without a cursor instead, for a program that runs in place.
  bool ReadPlain(const PlainSources& row, const std::optional<RetentionPolicy>& retention);
  // Reads the next piece, if has_more().
  bool ReadMore() { return ReadPiece(); }

  // The cells of the current piece, valid until the next call. Never empty after a call that
  // returned true.
  std::span<const Cell> piece() const { return {cells_.data() + begin_, end_ - begin_}; }
  // True if another piece of the row follows.
  bool has_more() const { return end_ < cells_.size(); }
  uint64_t cells_seen() const { return cells_seen_; }  // of all rows
  const absl::Status& status() const { return status_; }

 private:
  bool ReadPiece();
  size_t ExtendPiece(size_t bytes);
  bool ReadBatch();
  bool ReadInPasses();
  bool AfterEmptyBatch();
  bool DropShownCells();
  bool IsMuchPinned() const;
  bool IsCopyDue(uint64_t bytes) const;
  bool CopyCells();
  void Unpin();
  void ReserveBatch();
  void ChargeHeld();
  bool Interrupted();
  bool Fail(absl::Status status);

  FilterProgram& program_;
  Interruption& interruption_;
  const RowAssemblerOptions options_;
  const size_t piece_cells_max_;
  FilterProgram::Next start_ = FilterProgram::Next::kContinue;
  CellCursor* cursor_ = nullptr;
  std::vector<Cell> cells_;  // of returned pieces, then cells read in advance
  size_t begin_ = 0;         // of the current piece, in cells_
  size_t end_ = 0;
  size_t shown_max_ = 0;              // the cells of the largest piece
  bool row_done_ = false;             // nothing more of the row can pass
  uint32_t batches_ = 0;              // of all rows
  uint64_t pinned_before_ = 0;        // bytes_pinned when the cursor last unpinned
  std::optional<PassReader> passes_;  // where the program does not run in place
  Buffer held_;                       // bytes of copied cells
  MemoryCharge charge_;               // of held_, and of the arrays of a large row
  uint64_t cells_seen_ = 0;
  absl::Status status_;
};

// Appends a view of each cell. `families` and `program` must outlive the views.
template <typename Views>
void AppendViews(std::span<const Cell> cells, const FamilyList& families,
                 const FilterProgram& program, Views* views) {
  // Two loops, because labels are rare: checking each cell for a label makes a scan 1 % slower.
  if (!program.has_labels()) {
    for (const Cell& cell : cells) {
      views->emplace_back(families[cell.family].name, cell.qualifier,
                          Timestamp::FromMicros(cell.timestamp), cell.value);
    }
    return;
  }
  for (const Cell& cell : cells) {
    views->emplace_back(families[cell.family].name, cell.qualifier,
                        Timestamp::FromMicros(cell.timestamp), cell.value, program.LabelsOf(cell));
  }
}

}  // namespace stele::internal
