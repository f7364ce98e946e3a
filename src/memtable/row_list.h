// memtable/row_list.h: the rows of a memtable: a skip list by row key, and an index by hash.
//
// Find looks for the row in the index. FindOrInsert first checks whether it is the row used last,
// or belongs right after that, and then looks in the index. The list is searched for other new
// rows, for bounds, and for all rows if the index has given up.
//
// Every link stores the first eight bytes of the key of the node that it points to. So a search
// accesses another node only to continue from it, or if those eight bytes are equal. The nodes and
// the index share an arena that has no cells, so that the nodes are close together.
//
// Invariants:
//            1. A link is only ever changed to point to a node with a smaller key, and the pointer
//               is stored before the prefix. So a prefix smaller than the target's leads to a node
//               before the target, even during an insert.
//            2. A reader that runs concurrently with an insert can miss only rows newer than its
//               sequence: the published sequence orders all older inserts before it.
//            3. A row's `previous` is set before the row is linked, and is changed only to a row
//               that was inserted in between. So, by 2, a reader that follows `previous` reaches
//               every row that it may see.
// Threads:   one inserting thread and any number of concurrent readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/random.h"
#include "memtable/row_index.h"
#include "memtable/row_node.h"

namespace stele::internal {

class RowList {
 public:
  RowList();
  RowList(const RowList&) = delete;
  RowList& operator=(const RowList&) = delete;

  // Returns the row, created as of `sequence` if necessary; nullptr if memory was refused. For the
  // inserting thread only.
  RowNode* FindOrInsert(std::string_view row_key, uint64_t sequence);

  // These return nullptr if there is no such row.
  const RowNode* Find(std::string_view row_key) const;
  const RowNode* First() const { return head_->node.next(); }
  const RowNode* Last() const { return Previous(&head_->node); }
  const RowNode* FirstFrom(std::string_view bound) const;   // the first row >= bound
  const RowNode* LastBefore(std::string_view bound) const;  // the last row < bound
  const RowNode* Previous(const RowNode* row) const;

  // Returns row keys at roughly even distances: that of the first row and at most `count_max`
  // others. They live as long as the list. Any thread.
  std::vector<std::string_view> Sample(size_t count_max) const;

  size_t bytes() const { return arena_.bytes(); }
  const ArenaBlocks& blocks() const { return arena_.blocks(); }

 private:
  static constexpr int kHeightMax = 18;
  // The links follow the node, as in the arena. The head's `previous` is the last row.
  struct Head {
    RowNode node{kHeightMax};
    RowNode::Link links[kHeightMax];
  };

  // Returns the last node before `row_key`. `splice`, if given, receives the last one of each level
  // in use.
  RowNode* Search(std::string_view row_key, RowNode** splice) const;
  // True if no row is between last_used_ and `row_key`.
  bool BelongsAfterLast(std::string_view row_key) const;
  // Links a new row after splice_, and adds it to the index.
  RowNode* Insert(std::string_view row_key, uint64_t hash, uint64_t sequence);
  // True if `row_key` belongs between `row` and the next one on that level.
  bool BelongsAfter(const RowNode* row, int level, std::string_view row_key) const;
  void SetLastUsed(RowNode* row);
  void ResetSplice();

  Arena arena_;
  RowIndex index_;
  const std::unique_ptr<Head> head_;
  // Relaxed: a reader that sees an old value starts its search on a lower level.
  std::atomic<int> height_{1};
  // For the inserting thread: the row that was inserted last, or found last by a search; the head
  // if there is none. On each level, also the last node that is not after this row.
  RowNode* last_used_;
  RowNode* splice_[kHeightMax];
  Random random_;
};

}  // namespace stele::internal
