// cell/cell_cursor.h: the interface of all internal cursors. A cursor steps over rows in one
// direction and returns the cells of the current row in order.
//
// Used by:   read/row_assembler.cc reads the top cursor of a chain for a read,
//            jobs/sstable_writer.cc for a flush or a compaction. From top to bottom a chain is
//            merge/retention_cursor.h, merge/merge_cursor.h, and the sources:
//            memtable/memtable_cursor.h and sstable/read/section_cursor.h.
// Errors:    calls that return bool return false at the end and on failure; status() distinguishes
//            the two. After a failure the cursor does not move any more.
// Threads:   confined to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cell/cell.h"
#include "cell/family_list.h"
#include "cell/prefetch_runner.h"
#include "cell/timestamp_span.h"

namespace stele::internal {

enum class Direction : uint8_t { kForward, kReverse };

inline constexpr size_t kCellBatch = 256;
// A value of CellCursor::OnlySource.
inline constexpr size_t kSeveralSources = ~size_t{0};
// A value of at least this size ends its batch, so that the caller can release it before it reads
// the next one.
inline constexpr size_t kBatchEndingBytes = 64 << 10;

// Counts the cost of a read. The sources add to it, and the reader's public statistics include it.
struct CursorStats {
  uint64_t blocks = 0;         // decoded blocks touched, from cache or not
  uint64_t bytes_read = 0;     // from files
  uint64_t bytes_decoded = 0;  // after decompression
  // Columns of latest-only reads whose older versions were needed.
  uint64_t history_reads = 0;
  // Memory that the returned cells may point into, cached or not. Counted when the cursor reaches
  // it.
  uint64_t bytes_pinned = 0;
};

// As ReadOptions.reserve_large_value.
using ReserveValue = std::function<absl::Status(uint64_t bytes)>;

struct CursorOptions {
  Direction direction = Direction::kForward;
  // Maps this source's indexes to the user's indexes. Cells of skipped families are not returned,
  // and are not read if that can be avoided.
  FamilyMap families;
  bool fill_cache = true;
  // The reader needs only the newest version of each column. The source may leave out its older
  // ones; ReadHistory returns them on request.
  bool latest_only = false;
  // Timestamp spans by this source's index; empty: everything. Versions outside of their family's
  // span may be left out, tombstones may not.
  std::vector<TimestampSpan> spans;
  // Large values may be returned as lazy values (cell.h). Such a cell ends its batch, as any large
  // value does.
  bool defers_values = false;
  // Called before a large value is read; an error fails the read. May be null; outlives the cursor.
  const ReserveValue* reserve_large_value = nullptr;
  CursorStats* stats = nullptr;  // may be null; outlives the cursor
  // If a source that is a file fails, it stores the reason here. May be null; must outlive the
  // cursor.
  absl::Status* failure = nullptr;
  // Runs the prefetching of long scans; null: no prefetching. Must outlive the cursor.
  PrefetchRunner* prefetch_runner = nullptr;
};

class CellCursor {
 public:
  virtual ~CellCursor() = default;

  // Moves to the first row in the cursor's direction: the least row, or the greatest one in
  // reverse.
  virtual bool SeekToEdge() = 0;
  // kForward: moves to the first row >= bound. kReverse: to the last row < bound. This suits
  // half-open ranges in both directions.
  virtual bool SeekRow(std::string_view bound) = 0;
  virtual bool NextRow() = 0;
  // Valid only after one of the three calls above returned true.
  virtual std::string_view row_key() const = 0;

  // Appends the next cells of the current row to `cells`. Returns false at the end of the row, and
  // then appends nothing. A call may return true without appending cells: after skipping many cells
  // it gives the caller the opportunity to unpin.
  virtual bool ReadCells(std::vector<Cell>* cells) = 0;
  // True if the current row has no more cells. False if that is not known without a read.
  virtual bool IsRowDone() const { return false; }
  // In a merge: the position of the only source that has the current row, or kSeveralSources. Other
  // cursors are one source.
  virtual size_t OnlySource() const { return 0; }
  // Moves forward within the current row. Cells before the column (family, qualifier) may be left
  // out, except tombstones of the row and of that family that were not returned yet. This is a
  // hint: an implementation may do nothing.
  virtual void SkipTo(uint32_t family, std::string_view qualifier) = 0;
  // With latest_only: appends the next versions of the column that were left out, newest first;
  // nothing if there are no more. A cell of the column must have been returned; columns ascend.
  // Returns false on failure.
  virtual bool ReadHistory(uint32_t /*family*/, std::string_view /*qualifier*/,
                           std::vector<Cell>* /*cells*/) {
    return true;
  }
  // Releases the cells returned so far; row_key() stays valid. If the last of them has a lazy
  // value, the value may still be read until the next batch.
  virtual void Unpin() = 0;

  virtual absl::Status status() const = 0;
};

}  // namespace stele::internal
