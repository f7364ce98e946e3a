// memtable/cell_list.h: the cells of one row of a memtable: a skip list that is a plain linked list
// while the row is small.
//
// Path:      RowList (row_list.h) has one per row; the memtable's cursor traverses it.
// Order:     cell.h, then newest commit first. Cells are never removed or changed, so several cells
//            with one cell key may be adjacent.
// Deltas:    a delta's node may store more than one delta: the fold of this delta and older ones of
//            its cell key, back to a commit that the node states (DeltaSpan). A fold never crosses
//            a tombstone of the row, so it never has to be divided. It never changes afterwards, so
//            a view at a sequence between two deltas still gets the right fold (engine rule 4). All
//            nodes of numbers are folded; of sketches one in kPlainDeltas, since each fold is as
//            large as the sketch.
// Cost:      the first kPlainCells cells have one link each; later ones get random heights. A seek
//            in a row of n cells takes O(log n) plus at most kPlainCells steps. A cell that follows
//            the last one inserted is inserted without a search, as when a mutation's columns are
//            sorted.
// Newest:    a link above the lowest level stores an upper bound of the sequences that it skips. So
//            a reader that looks for cells written after a tombstone skips everything that the
//            tombstone hides in O(log n), in any order of timestamps.
// Threads:   one inserting thread and any number of concurrent readers. A node is complete before a
//            release store links it.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "base/random.h"
#include "cell/cell.h"

namespace stele::internal {

// The position of an operation in the order of commits: engine rule 4.
struct CommitPoint {
  uint64_t sequence = 0;
  uint32_t position = 0;
  friend auto operator<=>(const CommitPoint&, const CommitPoint&) = default;
};

// The range of a delta's node: all deltas of its cell key from `since` up to its own commit.
struct DeltaSpan {
  CommitPoint since;
  // The number of consecutive nodes, this one included, that contain a single delta.
  uint32_t plain_count = 0;
};

// One stored operation. The arena has behind it: its link, its upper links, the qualifier, then the
// value. The value of a kDeleteRange is the eight bytes of range_start; that of a delta is its
// DeltaSpan and the folded value.
class CellNode {
 public:
  using Link = std::atomic<CellNode*>;
  // A link above the lowest level. No node that it skips has a later sequence than `newest`, except
  // a node that is being inserted, which no reader sees yet. So readers may load the two members
  // separately. Relaxed, since the published sequence orders everything that a reader must see.
  struct UpperLink {
    Link node{nullptr};
    std::atomic<uint64_t> newest{0};
  };

  // Returns nullptr if the arena is refused memory. `span` is for deltas.
  static CellNode* Make(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                        const DeltaSpan& span = {});

  uint32_t family() const { return family_; }
  CellKind kind() const { return kind_; }
  int64_t timestamp() const { return timestamp_; }
  uint64_t sequence() const { return sequence_; }
  CommitPoint commit() const { return {sequence_, position_}; }
  std::string_view qualifier() const { return {bytes(), qualifier_bytes_}; }
  int64_t range_start() const;   // kDeleteRange only
  DeltaSpan delta_span() const;  // for deltas only, like the next
  std::string_view delta_value() const;
  // The members that CompareCells compares.
  Cell cell_key() const {
    return {.family = family_, .kind = kind_, .timestamp = timestamp_, .qualifier = qualifier()};
  }
  // The whole cell, with the index that the cursor's user knows. Its bytes live as long as the
  // arena.
  Cell AsCell(uint32_t family) const;

  const CellNode* next() const { return next_.load(std::memory_order_acquire); }
  Link& link() { return next_; }
  // The number of levels with links, the lowest included. upper_link has levels 1 to height() - 1.
  int height() const { return height_; }
  const UpperLink& upper_link(int level) const {
    return reinterpret_cast<const UpperLink*>(this + 1)[level - 1];
  }
  UpperLink& upper_link(int level) { return reinterpret_cast<UpperLink*>(this + 1)[level - 1]; }

 private:
  CellNode(const Cell& cell, const CommitPoint& commit, int height, size_t value_bytes);
  const char* bytes() const { return reinterpret_cast<const char*>(&upper_link(height_)); }

  Link next_{nullptr};
  const uint64_t sequence_;
  const int64_t timestamp_;
  const uint32_t position_;
  const uint32_t family_;
  const uint32_t value_bytes_;
  const uint16_t qualifier_bytes_;
  const CellKind kind_;
  const uint8_t height_;
};

// A position in a list: that of a node of `commit` among the nodes with the cell key of `cell`.
struct CellPlace {
  Cell cell;
  CommitPoint commit;
};
// Sort before and after all nodes of a cell key. No operation has the commit {0, 0}.
inline constexpr CommitPoint kNewestCommit{UINT64_MAX, UINT32_MAX};
inline constexpr CommitPoint kOldestCommit{0, 0};

inline bool IsBefore(const CellNode& node, const CellPlace& place) {
  const std::strong_ordering by_cell = CompareCells(node.cell_key(), place.cell);
  return by_cell != 0 ? by_cell < 0 : node.commit() > place.commit;
}

class CellList {
 public:
  static constexpr uint32_t kPlainCells = 16;
  // A read folds at most this many nodes for each tombstone of the row.
  static constexpr uint32_t kPlainDeltas = 64;

  // Inserts a cell that was committed after all cells inserted before. Returns false, and changes
  // nothing, if memory was refused.
  bool Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit);

  const CellNode* First() const { return first_.load(std::memory_order_acquire); }
  // The first node at or after `place`, or nullptr.
  const CellNode* Seek(const CellPlace& place) const;
  // The first node after `from` that was committed at `sequence` or later, or that is at or after
  // `end`; nullptr if there is none. For readers at `sequence` or later.
  static const CellNode* NextSince(uint64_t sequence, const CellNode* from, const CellPlace& end);

 private:
  static constexpr int kHeightMax = 12;
  using Link = CellNode::Link;
  using UpperLink = CellNode::UpperLink;
  struct Tower {
    UpperLink links[kHeightMax];  // the head's links; links[0] is unused, first_ takes its place
    // For the inserting thread: on each level the link that skips the position right after
    // last_inserted_.
    UpperLink* path[kHeightMax];
  };

  // Returns the link that will point to a node at `place`, and makes the path lead there.
  Link* FindLink(const CellPlace& place);
  Link* FindPlainLink(const CellPlace& place, Link* from);
  // `newest` is at least the sequence of every node so far.
  bool GrowTower(Arena* arena, uint64_t newest);
  // Links the node on the levels above the lowest one, where it is linked already.
  static void LinkAbove(CellNode* node, Tower* tower);
  // `older` is the node that will follow it in the list.
  CellNode* MakeDelta(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                      const CellNode* older) const;

  Link first_{nullptr};
  std::atomic<Tower*> tower_{nullptr};  // set once the row outgrew kPlainCells
  CellNode* last_inserted_ = nullptr;   // this and the next: for the inserting thread only
  uint32_t count_ = 0;
  CommitPoint last_tombstone_;  // of the newest tombstone of any kind
};

}  // namespace stele::internal
