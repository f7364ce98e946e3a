// memtable/row_list.h: the rows of a memtable: a skip list by row key.
//
// Every link carries the first eight bytes of the key it leads to, so a search looks at another node only to go on from it, or when those
// eight bytes are equal. Nodes lie in an arena of their own, apart from the cells, to stay close together.
//
// Invariants:
//   1. A link's node only ever changes to one of a smaller key, and is stored before the link's prefix. So a prefix smaller than the
//      one searched for leads to a node before the place searched for, even if a row was linked in between.
//   2. What a reader misses beside an insert is a row newer than its sequence: the published sequence orders all older inserts before it.
//   3. A row's `previous` is set before the row is linked and afterwards only ever changes to a row in between; by 2 the chain of a
//      reader holds every row that it may see.
// Threads:   one inserting thread; any number of readers beside it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/random.h"
#include "memtable/cell_list.h"

namespace stele::internal {

// In the arena behind it: its links, then the key.
class RowNode {
 public:
  struct Link {
    std::atomic<RowNode*> node{nullptr};
    std::atomic<uint64_t> prefix{UINT64_MAX};
  };

  // nullptr when the arena is refused memory.
  static RowNode* Make(Arena* arena, std::string_view row_key, uint64_t sequence, int height);
  // For the head of a list, which has no key.
  explicit RowNode(int height) : first_sequence_(0), row_key_bytes_(0), height_(height) {}

  std::string_view row_key() const { return {reinterpret_cast<const char*>(links() + height_), row_key_bytes_}; }
  // The commit that made the row: cursors below it pass it over.
  uint64_t first_sequence() const { return first_sequence_; }
  const CellList& cells() const { return cells_; }
  CellList& cells() { return cells_; }
  const RowNode* next() const { return links()[0].node.load(std::memory_order_acquire); }

  std::atomic<RowNode*>& previous() { return previous_; }
  const std::atomic<RowNode*>& previous() const { return previous_; }
  int height() const { return height_; }
  const Link* links() const { return reinterpret_cast<const Link*>(this + 1); }
  Link* links() { return reinterpret_cast<Link*>(this + 1); }

  // For the inserting thread.
  uint64_t last_sequence() const { return last_sequence_; }
  void set_last_sequence(uint64_t sequence) { last_sequence_ = sequence; }

 private:
  RowNode(std::string_view row_key, uint64_t sequence, int height)
      : first_sequence_(sequence), row_key_bytes_(static_cast<uint32_t>(row_key.size())), height_(height) {}

  const uint64_t first_sequence_;
  uint64_t last_sequence_ = 0;
  std::atomic<RowNode*> previous_{nullptr};
  CellList cells_;
  const uint32_t row_key_bytes_;
  const int32_t height_;
};

class RowList {
 public:
  RowList();
  RowList(const RowList&) = delete;
  RowList& operator=(const RowList&) = delete;

  // The row, made as of `sequence` if there is none yet; nullptr when memory was refused. For the inserting thread.
  RowNode* FindOrInsert(std::string_view row_key, uint64_t sequence);

  // All of these answer nullptr where there is none.
  const RowNode* Find(std::string_view row_key) const;
  const RowNode* First() const { return head_->node.next(); }
  const RowNode* Last() const { return Previous(&head_->node); }
  const RowNode* FirstFrom(std::string_view bound) const;   // the first row >= bound
  const RowNode* LastBefore(std::string_view bound) const;  // the last row < bound
  const RowNode* Previous(const RowNode* row) const;

  // Row keys at about even distances: the first row's and at most `count_max` others. They live as long as the list. Any thread.
  std::vector<std::string_view> Sample(size_t count_max) const;

  size_t bytes() const { return arena_.bytes(); }
  const ArenaBlocks& blocks() const { return arena_.blocks(); }

 private:
  static constexpr int kHeightMax = 18;
  // Its links lie behind the node, as in the arena. Its `previous` is the last row.
  struct Head {
    RowNode node{kHeightMax};
    RowNode::Link links[kHeightMax];
  };

  // The last node before `row_key`; `splice`, if given, receives the last one of each level in use.
  RowNode* Search(std::string_view row_key, RowNode** splice) const;
  // Nothing lies between the row last used and `row_key`.
  bool FollowsLast(std::string_view row_key) const;
  // Links a new row behind splice_.
  RowNode* Insert(std::string_view row_key, uint64_t sequence);
  // Between `row` and the next one on that level.
  bool GoesBehind(const RowNode* row, int level, std::string_view row_key) const;
  void Use(RowNode* row);
  void ForgetLast();

  Arena arena_;
  const std::unique_ptr<Head> head_;
  std::atomic<int> height_{1};  // relaxed: a reader that sees an old one starts its search lower
  // For the inserting thread: the row last used (the head: none), and of each level the last node up to and with it.
  RowNode* last_used_;
  RowNode* splice_[kHeightMax];
  Random random_;
};

}  // namespace stele::internal
