// memtable/cell_node.h: one operation that a memtable stores, and its place in a column.
//
// Order:     that of cell/cell.h within a column: newest timestamp first, then by kind, then newest
//            commit first. Nodes are never removed or changed, so several nodes with one cell key
//            may be adjacent.
// Deltas:    a delta's node may store more than one delta: the fold of this delta and older ones of
//            its cell key, back to DeltaSpan::since.
// Threads:   immutable, except for the links.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "cell/cell.h"
#include "memtable/commit_point.h"
#include "memtable/skip_list.h"

namespace stele::internal {

// The range of a delta's node: all deltas of its cell key from `since` up to its own commit.
struct DeltaSpan {
  CommitPoint since;
  // The number of consecutive nodes, from this one down, that have one delta each; 0 if this node
  // is a fold.
  uint32_t unfolded_count = 0;
};

// The greatest sequence that a node can store: the sequence shares a word with two small numbers.
// At a million commits per second it is reached after two thousand years.
inline constexpr uint64_t kSequenceMax = (uint64_t{1} << 56) - 1;

// One operation of a column. Its memory in the arena: the node, its upper links, its value. The
// value of a kDeleteRange is range_start in eight bytes. The value of a delta is its DeltaSpan,
// then the folded value.
class CellNode {
 public:
  // The size of a node. Its memory must be aligned to 8.
  static size_t BytesFor(const Cell& cell, int height);
  // Constructs a node in memory of that size. `span` is for deltas.
  static CellNode* MakeAt(char* memory, const Cell& cell, const CommitPoint& commit, int height,
                          const DeltaSpan& span);

  CellKind kind() const { return static_cast<CellKind>(kind_); }
  int64_t timestamp() const { return timestamp_; }
  uint64_t sequence() const { return sequence_; }
  CommitPoint commit() const { return {sequence_, position_}; }
  int64_t range_start() const;   // kDeleteRange only
  DeltaSpan delta_span() const;  // for deltas only, like the next
  std::string_view delta_value() const;
  bool IsSameCell(const CellNode& other) const {
    return timestamp_ == other.timestamp_ && kind_ == other.kind_;
  }
  // The whole cell, with the family index that the cursor's user knows. Its bytes live as long as
  // the arena.
  Cell AsCell(uint32_t family, std::string_view qualifier) const;

  // For SkipList.
  std::atomic<CellNode*>& link() { return next_; }
  const CellNode* next() const { return next_.load(std::memory_order_acquire); }
  int height() const { return static_cast<int>(height_); }
  const UpperLink<CellNode>& upper_link(int level) const {
    return reinterpret_cast<const UpperLink<CellNode>*>(this + 1)[level - 1];
  }
  UpperLink<CellNode>& upper_link(int level) {
    return reinterpret_cast<UpperLink<CellNode>*>(this + 1)[level - 1];
  }
  uint64_t newest() const { return sequence_; }

 private:
  CellNode(const Cell& cell, const CommitPoint& commit, int height, size_t value_bytes);
  const char* bytes() const { return reinterpret_cast<const char*>(&upper_link(height())); }

  std::atomic<CellNode*> next_{nullptr};
  const int64_t timestamp_;
  const uint64_t sequence_ : 56;
  const uint64_t kind_ : 4;
  const uint64_t height_ : 4;
  const uint32_t position_;
  const uint32_t value_bytes_;
};
static_assert(sizeof(CellNode) == 32, "memtables have one for each operation");

// A place in a column: the place that a node with this timestamp, kind and commit has.
struct CellPlace {
  int64_t timestamp = 0;
  CellKind kind = CellKind::kSet;
  CommitPoint commit;
};

inline bool IsBefore(const CellNode& node, const CellPlace& place) {
  if (node.timestamp() != place.timestamp) return node.timestamp() > place.timestamp;
  if (node.kind() != place.kind) return node.kind() < place.kind;
  return node.commit() > place.commit;
}

}  // namespace stele::internal
