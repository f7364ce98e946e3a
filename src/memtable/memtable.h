// memtable/memtable.h: one table's recent commits, sorted, in memory, structured by row.
//
// Path:      db commit -> Apply; read -> NewCursor; full -> freeze (db stops applying) -> flush.
// Invariants:
//   1. Rows are found by one search per row mutation; a row holds its cells in the order of cell/cell.h, then newest commit first
//      (sequence, position in the batch; engine rule 4). A row with a million cells inserts and seeks in logarithmic time.
//   2. Nothing is changed or freed once inserted: a cursor at sequence r sees exactly what was applied with sequence <= r.
//   3. A cursor is resolved (cell_cursor.h): per identity the newest at or below r; what newer deletes in the memtable cover is gone.
// Memory:    an arena; bytes() is what it took. Refused memory: Apply answers ResourceExhausted and the memtable must be frozen (part of
//            the batch may be in; the caller does not publish its sequence, and no cursor reads above the published one).
// Threads:   Apply is for one thread at a time; cursors run beside it without locks, provided the sequence they ask for was published
//            to them with release/acquire after Apply returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "base/arena.h"
#include "cell/cell_cursor.h"
#include "cell/family_list.h"
#include "mutation/batch.h"

namespace stele::internal {

class Memtable {
 public:
  // `families`: the table's live families; a table whose families change gets a new memtable.
  explicit Memtable(FamilyList families);
  ~Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  // Applies one row's operations, in order, as part of the batch committed as `sequence` (never less than in an earlier call). Operations
  // on family ids this memtable does not know (dropped since they were logged) are left out. `position` counts operations over the whole
  // batch and goes on with each call of the same sequence.
  absl::Status Apply(uint64_t sequence, const RowOps& row, uint32_t* position);

  // Rows and cells as of `sequence`. The memtable must outlive the cursor.
  std::unique_ptr<CellCursor> NewCursor(uint64_t sequence, const CursorOptions& options) const;
  // The ids of its families by rank, for FamilyList::MapFrom.
  const std::vector<uint32_t>& family_ids() const { return family_ids_; }

  // The newest sequence that touched the row, 0 if none did: what conditional writes check (engine rule 5). For the applying thread.
  uint64_t LastSequenceOfRow(std::string_view row_key) const;

  bool empty() const;
  size_t bytes() const;             // taken from the system; any thread
  uint64_t cell_count() const;      // operations stored; any thread
  uint64_t first_sequence() const;  // 0 when empty; for the applying thread, or once frozen
  uint64_t last_sequence() const;

 private:
  class Rows;
  const FamilyList families_;
  const std::vector<uint32_t> family_ids_;
  std::unique_ptr<Rows> rows_;
};

}  // namespace stele::internal
