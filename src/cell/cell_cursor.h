// cell/cell_cursor.h: the one internal cursor: rows in one direction, and the cells of the current row in order.
//
// Path:      memtable, sstable -> merge -> retention -> filter -> read; the same chain feeds flush and compaction.
// Contract:  - Rows come strictly ascending (kForward) or strictly descending (kReverse). Within a row, cells always come in the order of
//              cell.h, in either direction.
//            - A source is resolved: each identity at most once, what its own tombstones hide is gone, and the tombstones it still hands
//              out hide older sources only (engine rules, "Order and commit").
//            - A row may turn out to have no cells at all (projected away, or hidden), or be left out for that: users must expect both.
//            - Bytes that ReadCells handed out stay valid until Unpin(), NextRow() or a seek of this cursor; row_key() until NextRow() or a
//              seek. So one row's cells can be viewed together without copying, and a giant row can be read in pieces by calling Unpin().
//            - Large rows stream: ReadCells hands out a bounded batch (about kCellBatch cells or a page's worth), never a whole giant row.
// Errors:    calls that return bool answer false at the end and on failure; status() tells which. After a failure the cursor stays there.
// Threads:   confined to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cell/ahead_runner.h"
#include "cell/cell.h"
#include "cell/family_list.h"
#include "cell/timestamp_span.h"

namespace stele::internal {

enum class Direction : uint8_t { kForward, kReverse };

inline constexpr size_t kCellBatch = 256;
// A cell with a value from here on ends its batch, so that its user may let go of it before the next is read.
inline constexpr size_t kBatchEndingBytes = 64 << 10;

// What reading cost, counted by the sources; added to the reader's public statistics.
struct CursorStats {
  uint64_t pages = 0;          // decoded pages touched, from cache or not
  uint64_t bytes_read = 0;     // from files
  uint64_t bytes_decoded = 0;  // after decompression
  uint64_t history_reads = 0;  // columns whose history was needed although only the latest was asked for
  uint64_t bytes_pinned = 0;   // of memory that cells handed out may lie in, from cache or not; counted when it is come to
};

struct CursorOptions {
  Direction direction = Direction::kForward;
  FamilyMap families;  // this source's rank -> the user's rank; cells of skipped families are not handed out, nor read where avoidable
  bool fill_cache = true;
  // Of each column only the newest version this source has is asked for: the others may be left out, and asked for with ReadHistory.
  bool latest_only = false;
  // By this source's rank; empty: all. Versions outside of their family's span may be left out, tombstones may not.
  std::vector<TimestampSpan> spans;
  // Large values may come as deferred ones (cell.h). A batch ends with such a cell, as with any large one.
  bool defers_values = false;
  CursorStats* stats = nullptr;  // may be null; outlives the cursor
  // Where a source that is a file says why it could not be read. May be null; outlives the cursor.
  absl::Status* failure = nullptr;
  AheadRunner* ahead = nullptr;  // who decodes what a long scan comes to next; null: nobody. Outlives the cursor
};

class CellCursor {
 public:
  virtual ~CellCursor() = default;

  // To the first row in the cursor's direction: the least row, or the greatest when reverse.
  virtual bool SeekToEdge() = 0;
  // kForward: to the first row >= bound. kReverse: to the last row < bound. (Both are what a half-open range needs.)
  virtual bool SeekRow(std::string_view bound) = 0;
  virtual bool NextRow() = 0;
  // Only after one of the above answered true.
  virtual std::string_view row_key() const = 0;

  // Appends the next cells of the current row to `cells`; false when the row has no more (nothing appended). Having appended none is no
  // end: after much that was of no use the user is given the occasion to let go of what it pins.
  virtual bool ReadCells(std::vector<Cell>* cells) = 0;
  // Within the current row, forward only: cells before the column (family, qualifier) may be left out from here on; those from it on may
  // not, nor the tombstones of the row or of that family if not yet handed out. A hint: doing nothing is allowed.
  virtual void SkipTo(uint32_t family, std::string_view qualifier) = 0;
  // With latest_only: appends some more of the current row's versions of the column that were left out, newest first; nothing when there
  // are no more. For cells of a column handed out already, and columns ascending. False on failure.
  virtual bool ReadHistory(uint32_t /*family*/, std::string_view /*qualifier*/, std::vector<Cell>* /*cells*/) { return true; }
  // Cells handed out so far may go; row_key() stays. A deferred value that the last of them has may be read all the same, until the next
  // batch.
  virtual void Unpin() = 0;

  virtual absl::Status status() const = 0;
};

}  // namespace stele::internal
