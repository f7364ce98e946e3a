// memtable/memtable.h: one table's recent commits in memory, sorted and grouped by row.
//
// Used by:   commit/committer.cc (Apply), read/source_chain.cc (NewCursor, NewRowCursor,
//            ReadPlainRow).
//            state/engine_state.cc freezes a full one, so that nothing is applied any more, and
//            jobs/flush_job.cc writes it.
// Calls:     memtable/row_list.h to insert rows, memtable/memtable_cursor.h and
//            memtable/plain_cells.h to read them.
// Invariants:
//            1. Each row mutation searches for its row once. A row has its cells in the order of
//               cell/cell.h, then newest commit first (sequence, position in the batch; engine rule
//               4). A row with a million cells inserts and seeks in logarithmic time.
//            2. Nothing is changed or freed once inserted: a cursor at sequence r sees exactly the
//               operations with sequence <= r.
//            3. A cursor is resolved (cell_cursor.h): it returns the newest operation of each cell
//               key at or below r, unless a newer delete in the memtable covers it.
// Memory:    two arenas, for rows and for cells; bytes() is their size. If memory is refused, Apply
//            returns ResourceExhausted and the memtable must be frozen. Part of the batch may be
//            applied then; the caller does not publish its sequence, and no cursor reads above the
//            published one.
// Threads:   one thread at a time may call Apply. Cursors run concurrently without locks if they
//            use a sequence that was published with release/acquire after Apply returned.
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
  // `families` are the table's families. When they change, the table gets a new memtable.
  explicit Memtable(FamilyList families);
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  // Applies the operations of one row, in order, as part of the batch committed as `sequence`
  // (positive, never less than in an earlier call). Operations on unknown family ids are skipped:
  // those families were dropped after the operation was logged. `position` counts operations over
  // the whole batch and continues with each call of the same sequence. Returns DataLoss for corrupt
  // operations (from a log); part of the batch may be applied then, as when memory is refused.
  absl::Status Apply(uint64_t sequence, const RowOps& row, uint32_t* position);

  // Returns a cursor over rows and cells as of `sequence`. The memtable must outlive it.
  std::unique_ptr<CellCursor> NewCursor(uint64_t sequence, const CursorOptions& options) const;
  // Returns a cursor for a caller that needs this row only, which FindRow returned.
  std::unique_ptr<CellCursor> NewRowCursor(const RowNode& row, uint64_t sequence,
                                           const CursorOptions& options) const;
  // Appends the row's cells without a cursor, if the row is plain (plain_cells.h). Returns false,
  // and appends nothing, if it is not.
  static bool ReadPlainRow(const RowNode& row, uint64_t sequence, const CursorOptions& options,
                           std::vector<Cell>* cells);
  // The ids of its families in index order, for FamilyList::MapFrom.
  const std::vector<uint32_t>& family_ids() const { return family_ids_; }

  // Returns the row, or null if there is none. Finds every row of a published commit, and perhaps
  // rows of later commits. Any thread.
  const RowNode* FindRow(std::string_view row_key) const { return rows_.Find(row_key); }
  // True if it has a row in [start, end), at any sequence; without `end` the range is unbounded.
  // Any thread.
  bool ContainsRowIn(std::string_view start, std::optional<std::string_view> end) const {
    const RowNode* const row = rows_.FirstFrom(start);
    return row != nullptr && (!end.has_value() || row->row_key() < *end);
  }

  bool empty() const;
  size_t bytes() const;  // allocated from the system; any thread
  // Appends the arena's blocks. A copy of a block pointer keeps alive the cells that cursors
  // returned from that block. Must not run concurrently with Apply.
  void AppendBlocks(ArenaBlocks* blocks) const;
  uint64_t cell_count() const;  // stored operations; any thread
  // Any thread, both: the number of rows, and the bytes of row keys, qualifiers, timestamps and
  // values, counted as for an SSTable (sstable_summary.h).
  uint64_t row_count() const;
  uint64_t logical_bytes() const;
  // The operations on one family, and the bytes of their qualifiers, timestamps and values.
  // `family_index` is in [1, family_ids().size()]. Any thread.
  struct FamilyCounts {
    uint64_t cells = 0;
    uint64_t bytes = 0;
  };
  FamilyCounts family_counts(uint32_t family_index) const;
  // The operations that may hide cells in older sources. Any thread; may be slightly out of date.
  struct EntryCounts {
    uint64_t row_tombstones = 0;
    uint64_t other_tombstones = 0;
    uint64_t versions = 0;
    int64_t timestamp_min = INT64_MAX;  // over versions
  };
  EntryCounts entry_counts() const;
  // See RowList::Sample.
  std::vector<std::string_view> SampleRowKeys(size_t count_max) const {
    return rows_.Sample(count_max);
  }
  // The first sequence, 0 when empty. Any thread; may be slightly out of date.
  uint64_t first_sequence() const;
  // The last sequence, 0 when empty. For the applying thread, or once frozen. It may be that of a
  // batch that was applied only partly: readers and flush use the published sequence.
  uint64_t last_sequence() const;

 private:
  // Returns kRowFamily for a family that this memtable does not have.
  uint32_t FamilyIndexOf(uint32_t family_id);
  void AddCounts(const EntryCounts& added);
  // Written by the applying thread only, so it needs no atomic addition.
  struct SharedFamilyCounts {
    std::atomic<uint64_t> cells{0};
    std::atomic<uint64_t> bytes{0};
  };
  static void AddOne(uint64_t bytes, SharedFamilyCounts* counts);
  // Inserts one operation. Returns false if memory was refused.
  bool Insert(RowNode* row, uint32_t family, const BatchOp& op, const CommitPoint& commit);

  const FamilyList families_;
  const std::vector<uint32_t> family_ids_;
  RowList rows_;
  Arena cells_;
  // Accounting figures. Access to them is relaxed.
  std::atomic<uint64_t> cell_count_{0};
  std::atomic<uint64_t> row_count_{0};
  std::atomic<uint64_t> logical_bytes_{0};
  std::vector<SharedFamilyCounts> family_counts_;  // by family index; kRowFamily: on whole rows
  std::atomic<uint64_t> row_tombstone_count_{0};
  std::atomic<uint64_t> other_tombstone_count_{0};
  std::atomic<int64_t> timestamp_min_{INT64_MAX};
  // For the applying thread only.
  Random random_;
  // Relaxed, both: published sequences order what readers see.
  std::atomic<uint64_t> first_sequence_{0};
  std::atomic<uint64_t> last_sequence_{0};
  uint32_t last_family_id_ = 0;
  uint32_t last_family_index_ = kRowFamily;
};

}  // namespace stele::internal
