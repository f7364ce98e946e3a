// memtable/column_node.h: one column of a row of a memtable, with its cells.
//
// Used by:   memtable/column_list.h has one for each column. memtable/memtable_cursor.cc traverses
//            it.
// Calls:     memtable/cell_node.h.
// Columns:   the row's tombstones are one column, and each family's tombstones are one column.
//            These come before the others (cell/cell.h), so a tombstone of the row is found in one
//            step.
// Cells:     the first cell is in the same memory as the column. A second one adds a list.
// Deltas:    a fold never includes deltas from before a tombstone of any kind in the row, so no
//            tombstone divides it. It never changes, so a view at a sequence between two deltas
//            still gets the right fold (engine rule 4). Each delta of a number is folded with the
//            older ones. Only one in kUnfoldedDeltasMax nodes of a sketch is a fold, because each
//            fold is as large as the sketch.
// Threads:   one inserting thread and any number of concurrent readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "base/random.h"
#include "cell/cell.h"
#include "memtable/cell_node.h"
#include "memtable/commit_point.h"
#include "memtable/skip_list.h"

namespace stele::internal {

// The place of a column in its row: family index and qualifier, or the tombstones of a row or a
// family.
struct ColumnPlace {
  uint32_t family = kRowFamily;
  bool is_tombstones = true;
  std::string_view qualifier;

  static ColumnPlace Of(const Cell& cell) {
    return {cell.family, cell.kind < CellKind::kDeleteRange, cell.qualifier};
  }
  // The place before all columns of the family and of later families.
  static ColumnPlace StartOf(uint32_t family) { return {.family = family}; }
};

// One column of a row. Its memory in the arena: the node, its upper links, the qualifier, then the
// first cell.
class ColumnNode {
 public:
  // Between two tombstones of the row, a read folds at most this many nodes.
  static constexpr uint32_t kUnfoldedDeltasMax = 64;

  // Creates a column with one cell. Returns nullptr if the arena is refused memory.
  static ColumnNode* Make(Arena* arena, const Cell& cell, const CommitPoint& commit, int height);
  // Inserts a cell that was committed after all cells inserted before. `last_tombstone` is the
  // commit of the row's newest tombstone. Returns false, and changes nothing, if memory was
  // refused.
  bool Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit,
              const CommitPoint& last_tombstone);

  uint32_t family() const { return family_; }
  std::string_view qualifier() const { return {qualifier_bytes(), qualifier_size_}; }
  bool IsAt(const ColumnPlace& place) const {
    return family_ == place.family && is_tombstones_ == place.is_tombstones &&
           qualifier() == place.qualifier;
  }
  bool IsBefore(const ColumnPlace& place) const {
    if (family_ != place.family) return family_ < place.family;
    if (is_tombstones_ != place.is_tombstones) return is_tombstones_;
    return qualifier() < place.qualifier;
  }
  bool is_family_tombstones() const { return is_tombstones_ && family_ != kRowFamily; }

  const CellNode* FirstCell() const {
    const Cells* cells = cells_.load(std::memory_order_acquire);
    return cells == nullptr ? first_inserted() : cells->list.First();
  }
  // The first cell at or after `place`, or nullptr.
  const CellNode* SeekCell(const CellPlace& place) const;
  // True if a range tombstone of the column was committed at `sequence` or before.
  bool HasRangesAt(uint64_t sequence) const;

  // For SkipList.
  std::atomic<ColumnNode*>& link() { return next_; }
  const ColumnNode* next() const { return next_.load(std::memory_order_acquire); }
  int height() const { return height_; }
  const UpperLink<ColumnNode>& upper_link(int level) const {
    return reinterpret_cast<const UpperLink<ColumnNode>*>(this + 1)[level - 1];
  }
  UpperLink<ColumnNode>& upper_link(int level) {
    return reinterpret_cast<UpperLink<ColumnNode>*>(this + 1)[level - 1];
  }
  uint64_t newest() const {
    const Cells* cells = cells_.load(std::memory_order_acquire);
    return cells == nullptr ? first_inserted()->sequence()
                            : cells->newest.load(std::memory_order_relaxed);
  }

 private:
  // The cells of a column with more than one.
  struct Cells {
    explicit Cells(CellNode* first);
    SkipList<CellNode> list;
    // Relaxed, both: published sequences order what readers see.
    std::atomic<uint64_t> newest;
    std::atomic<uint64_t> first_range;  // the sequence of the first range tombstone
  };

  ColumnNode(const Cell& cell, int height);
  const char* qualifier_bytes() const {
    return reinterpret_cast<const char*>(&upper_link(height_));
  }
  static size_t BytesBeforeCell(size_t qualifier_bytes, int height);
  const CellNode* first_inserted() const {
    return reinterpret_cast<const CellNode*>(reinterpret_cast<const char*>(this) +
                                             BytesBeforeCell(qualifier_size_, height_));
  }
  CellNode* first_inserted() {
    return const_cast<CellNode*>(static_cast<const ColumnNode*>(this)->first_inserted());
  }
  // Returns the list of cells, which is created for the second cell; nullptr if memory was refused.
  Cells* MakeCells(Arena* arena);
  static CellNode* MakeCell(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                            const DeltaSpan& span);
  static CellNode* MakeDelta(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                             const CommitPoint& last_tombstone, const CellNode* older);

  std::atomic<ColumnNode*> next_{nullptr};
  std::atomic<Cells*> cells_{nullptr};  // null while there is one cell
  const uint32_t family_;
  const uint16_t qualifier_size_;
  const uint8_t height_;
  const bool is_tombstones_;
};
static_assert(sizeof(ColumnNode) == 24, "memtables have one for each column of each row");

}  // namespace stele::internal
