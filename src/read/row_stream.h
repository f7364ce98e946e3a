// read/row_stream.h: the rows of a scan, one after the other, or piece after piece of a large row.
//
// Used by:   state/read_path.cc makes it. The public RowReader calls it as a RowSource
//            (api/backend.h).
// Calls:     read/scan_cursor.h (which row is next), read/row_assembler.h (which of its cells
//            pass).
// Memory:    when the pinned view is replaced while the reader is idle (read/idle_reader.h), its
//            memtables are released at once, except the blocks of the current row. A row in pieces
//            is read to its end first. At the end, and after a failure, everything is released.
// Errors:    DataLoss of a source; Cancelled, DeadlineExceeded; FailedPrecondition once the
//            database is closed. Rows returned before are valid.
// Threads:   confined to one thread at a time; the view it holds is immutable. Between two calls
//            of Next another thread may switch to a newer view, which does not change the results
//            of row(), status() and stats().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/backend.h"
#include "base/buffer.h"
#include "base/memory_tracker.h"
#include "filter/program.h"
#include "read/idle_reader.h"
#include "read/interruption.h"
#include "read/read_view.h"
#include "read/row_assembler.h"
#include "read/scan_cursor.h"

namespace stele::internal {

struct RowStreamOptions {
  std::shared_ptr<const void> keep_alive;  // the database
  // The database's counter of columns whose history a latest-only read needed; may be null.
  std::atomic<uint64_t>* history_reads = nullptr;
  // Provides the present view after a view was replaced. May be null.
  std::shared_ptr<const PinnedView> pin;
  uint64_t sequence = 0;
  int64_t now = 0;  // ages are measured from it
  std::shared_ptr<const TableView> table;
  std::vector<KeyRange> ranges;  // ascending, disjoint; read from the last one when reverse
  FilterProgram program;
  int64_t limit = 0;
  bool reverse = false;
  bool apply_gc = true;
  bool fill_cache = true;
  uint64_t piece_bytes = uint64_t{16} << 20;  // limited to an eighth of the budget
  PrefetchRunner* prefetch_runner = nullptr;  // keep_alive keeps it alive, too
  // Is charged for the memory of a piece; may be null.
  MemoryTracker* memory_tracker = nullptr;
  Interruption interruption;
  ReserveValue reserve_large_value;                   // may be empty
  std::function<void(std::string_view)> on_progress;  // may be empty
  // The minimum time between two reports. Tests set 0.
  std::chrono::milliseconds progress_interval{10};
};

// In builds with invariants: returns copies of rows, and overwrites each copy when its row is over,
// so that tests detect a view that is used too long.
class ExpiringRow {
 public:
  // Returns the same row over copied bytes.
  RowView Copy(const RowView& row);
  void Overwrite();

 private:
  Buffer bytes_;
  std::vector<CellView> views_;
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
  void BeginIdleSwitches();
  void SwitchView();
  bool NextRow();
  bool ReadRow();
  bool ReadMore();
  void ShowPiece();
  bool End();
  bool Fail(absl::Status status);

  RowStreamOptions options_;  // table, pin, ranges and on_progress were moved out of it
  CursorStats cursor_stats_;
  ScanCursor scan_;
  ScanProgress progress_;
  RowAssembler assembler_;
  std::shared_ptr<IdleReader> idle_;  // null: no view that could be replaced is pinned
  std::vector<CellView> views_;
  RowView row_;
  ExpiringRow expiring_row_;
  ReadStats stats_;
  absl::Status status_;
};

}  // namespace stele::internal
