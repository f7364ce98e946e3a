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

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/arena.h"
#include "base/random.h"
#include "cell/cell_cursor.h"
#include "cell/family_list.h"
#include "memtable/row_list.h"
#include "mutation/batch.h"

namespace stele::internal {

class Memtable {
 public:
  // `families`: the table's live families; a table whose families change gets a new memtable.
  explicit Memtable(FamilyList families);
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  // Applies one row's operations, in order, as part of the batch committed as `sequence` (positive, never less than in an earlier call).
  // Operations on family ids this memtable does not know (dropped since they were logged) are left out. `position` counts operations over
  // the whole batch and goes on with each call of the same sequence.
  // Damaged operations (from a log) are DataLoss; as with refused memory, part of the batch may be in.
  absl::Status Apply(uint64_t sequence, const RowOps& row, uint32_t* position);

  // Rows and cells as of `sequence`. The memtable must outlive the cursor.
  std::unique_ptr<CellCursor> NewCursor(uint64_t sequence, const CursorOptions& options) const;
  // For a user that asks for this row alone; null: the memtable does not have it, at any sequence.
  std::unique_ptr<CellCursor> NewRowCursor(std::string_view row_key, uint64_t sequence, const CursorOptions& options) const;
  // The ids of its families by rank, for FamilyList::MapFrom.
  const std::vector<uint32_t>& family_ids() const { return family_ids_; }

  // At any sequence; any thread.
  bool ContainsRow(std::string_view row_key) const { return rows_.Find(row_key) != nullptr; }
  // Likewise: some row in [start, end); no end = unbounded.
  bool ContainsRowIn(std::string_view start, std::optional<std::string_view> end) const {
    const RowNode* const row = rows_.FirstFrom(start);
    return row != nullptr && (!end.has_value() || row->row_key() < *end);
  }

  bool empty() const;
  size_t bytes() const;  // taken from the system; any thread
  // Appends what it is made of; who has a block of it keeps what cursors handed out of that block. Once nothing is applied any more.
  void AppendBlocks(ArenaBlocks* blocks) const;
  uint64_t cell_count() const;  // operations stored; any thread
  // Any thread, both: rows, and the bytes of row keys, qualifiers, timestamps and values, counted as an SSTable's (sstable_summary.h).
  uint64_t row_count() const;
  uint64_t logical_bytes() const;
  // See RowList::Sample.
  std::vector<std::string_view> SampleRowKeys(size_t count_max) const { return rows_.Sample(count_max); }
  // 0 when empty; for the applying thread, or once frozen. The last one may be of a batch that was refused half-way: readers and flush
  // go by the published sequence.
  uint64_t first_sequence() const;  // 0 when empty; any thread, a moment old
  uint64_t last_sequence() const;

 private:
  // kRowRank for a family this memtable does not know.
  uint32_t RankOf(uint32_t family_id);
  // One operation; false when memory was refused.
  bool Insert(RowNode* row, uint32_t family, const BatchOp& op, const CommitPoint& commit);

  const FamilyList families_;
  const std::vector<uint32_t> family_ids_;
  RowList rows_;
  Arena cells_;
  std::atomic<uint64_t> cell_count_{0};  // relaxed, these three: figures for accounting
  std::atomic<uint64_t> row_count_{0};
  std::atomic<uint64_t> logical_bytes_{0};
  // For the applying thread.
  Random random_;
  std::atomic<uint64_t> first_sequence_{0};  // relaxed, both: published sequences order what readers see
  std::atomic<uint64_t> last_sequence_{0};
  uint32_t last_family_id_ = 0;
  uint32_t last_family_rank_ = kRowRank;
};

}  // namespace stele::internal
