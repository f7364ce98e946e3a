// memtable/cell_list.h: the cells of one row of a memtable: a skip list that is a plain list while the row is small.
//
// Path:      RowList (row_list.h) holds one per row; the memtable's cursor walks it.
// Order:     cell.h, then newest commit first. Nothing is ever removed or changed; several cells of one identity stand side by side.
// Deltas:    a delta's node may say more than was added: what it and older deltas of its identity come to, back to a commit that it states
//            (DeltaSpan). Never beyond a tombstone of the row, so that nobody has to divide it; and never changed afterwards, so that a
//            view between two deltas sees the fold as of itself (engine rule 4). A number's nodes all do; of sketches one in kPlainDeltas,
//            for each takes what the whole sketch does.
// Cost:      the first kPlainCells cells have one link each; later ones get random heights, so a seek in a row of n cells takes O(log n)
//            plus at most those. A cell that follows the last one inserted, as when a mutation's columns come sorted, is found at once.
// Newest:    a link above the lowest level says how new what it passes over is at most. So whoever looks for what was written since a
//            tombstone passes over all that it hides in O(log n), however the timestamps lie.
// Threads:   one inserting thread; any number of readers beside it. A node is whole before a release store links it.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "base/random.h"
#include "cell/cell.h"

namespace stele::internal {

// When an operation was committed: engine rule 4.
struct CommitPoint {
  uint64_t sequence = 0;
  uint32_t position = 0;
  friend auto operator<=>(const CommitPoint&, const CommitPoint&) = default;
};

// What a delta's node holds: all deltas of its identity from `since` on to its own commit.
struct DeltaSpan {
  CommitPoint since;
  uint32_t plain_count = 0;  // of nodes before it in a row, itself included, that hold one delta alone
};

// One stored operation. In the arena behind it: its link, its upper links, the qualifier, then the value: of a kDeleteRange the eight bytes
// of range_start, of a delta its DeltaSpan and the folded value.
class CellNode {
 public:
  using Link = std::atomic<CellNode*>;
  // Of a level above the lowest. No node that it passes over has a later sequence than `newest`, but for one that is being inserted, which
  // no reader sees yet; so readers may load the two one by one. Relaxed: the published sequence orders what a reader has to know of.
  struct UpperLink {
    Link node{nullptr};
    std::atomic<uint64_t> newest{0};
  };

  // nullptr when the arena is refused memory. `span`: of a delta.
  static CellNode* Make(Arena* arena, const Cell& cell, const CommitPoint& commit, int height, const DeltaSpan& span = {});

  uint32_t family() const { return family_; }
  CellKind kind() const { return kind_; }
  int64_t timestamp() const { return timestamp_; }
  uint64_t sequence() const { return sequence_; }
  CommitPoint commit() const { return {sequence_, position_}; }
  std::string_view qualifier() const { return {bytes(), qualifier_bytes_}; }
  int64_t range_start() const;   // kDeleteRange only
  DeltaSpan delta_span() const;  // of a delta only, as the next
  std::string_view delta_value() const;
  // What CompareCells looks at.
  Cell identity() const { return {.family = family_, .kind = kind_, .timestamp = timestamp_, .qualifier = qualifier()}; }
  // All of it, under the rank that the cursor's user knows. Its bytes live as long as the arena.
  Cell AsCell(uint32_t family) const;

  const CellNode* next() const { return next_.load(std::memory_order_acquire); }
  Link& link() { return next_; }
  // Levels that it has links on, the lowest one counted; upper_link of levels 1 to height() - 1.
  int height() const { return height_; }
  const UpperLink& upper_link(int level) const { return reinterpret_cast<const UpperLink*>(this + 1)[level - 1]; }
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

// A place in a list: within the identity of `cell`, where a node of `commit` stands or would.
struct CellPlace {
  Cell cell;
  CommitPoint commit;
};
// Before everything of an identity, and behind everything of it but a commit {0, 0}, which nothing has.
inline constexpr CommitPoint kNewestCommit{UINT64_MAX, UINT32_MAX};
inline constexpr CommitPoint kOldestCommit{0, 0};

inline bool IsBefore(const CellNode& node, const CellPlace& place) {
  const std::strong_ordering by_cell = CompareCells(node.identity(), place.cell);
  return by_cell != 0 ? by_cell < 0 : node.commit() > place.commit;
}

class CellList {
 public:
  static constexpr uint32_t kPlainCells = 16;
  // A read folds at most so many nodes for each tombstone that the row has.
  static constexpr uint32_t kPlainDeltas = 64;

  // Later than all inserted before. False when memory was refused; nothing has changed then.
  bool Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit);

  const CellNode* First() const { return first_.load(std::memory_order_acquire); }
  // The first node that is not before `place`, or nullptr.
  const CellNode* Seek(const CellPlace& place) const;
  // The first node behind `from` that was committed at `sequence` or later, or is not before `end`; or nullptr. For readers of that
  // sequence or later ones.
  static const CellNode* NextSince(uint64_t sequence, const CellNode* from, const CellPlace& end);

 private:
  static constexpr int kHeightMax = 12;
  using Link = CellNode::Link;
  using UpperLink = CellNode::UpperLink;
  struct Tower {
    UpperLink links[kHeightMax];  // the head's; links[0] stays unused, first_ stands for it
    // For the inserting thread: of each level the link that passes over the place right behind last_inserted_.
    UpperLink* path[kHeightMax];
  };

  // The link that is to point to a node at `place`; the path leads there then.
  Link* FindLink(const CellPlace& place);
  Link* FindPlainLink(const CellPlace& place, Link* from);
  // `newest`: not older than any node so far.
  bool GrowTower(Arena* arena, uint64_t newest);
  // On the levels above the lowest, which it is linked on.
  static void LinkAbove(CellNode* node, Tower* tower);
  // `older`: what will follow it in the list.
  CellNode* MakeDelta(Arena* arena, const Cell& cell, const CommitPoint& commit, int height, const CellNode* older) const;

  Link first_{nullptr};
  std::atomic<Tower*> tower_{nullptr};  // once the row outgrew kPlainCells
  CellNode* last_inserted_ = nullptr;   // this and the next: for the inserting thread
  uint32_t count_ = 0;
  CommitPoint last_tombstone_;  // of any kind
};

}  // namespace stele::internal
