// memtable/column_list.h: the columns of one row of a memtable, in the order of cell/cell.h.
//
// Used by:   memtable/row_node.h has one for each row.
// Calls:     memtable/column_node.h.
// Cost:      that of skip_list.h. A read of the newest cells takes one step for each column. A
//            mutation whose columns are sorted searches once.
// Threads:   one inserting thread and any number of concurrent readers.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/random.h"
#include "memtable/column_node.h"
#include "memtable/skip_list.h"

namespace stele::internal {

class ColumnList {
 public:
  // Inserts a cell that was committed after all cells inserted before. Returns false, and changes
  // nothing, if memory was refused.
  bool Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit);

  const ColumnNode* First() const { return columns_.First(); }
  // The first column at or after `place`, or nullptr.
  const ColumnNode* Seek(const ColumnPlace& place) const {
    return columns_.Seek([&](const ColumnNode& column) { return column.IsBefore(place); });
  }

 private:
  bool InsertColumn(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit,
                    SkipList<ColumnNode>::Link* link);

  SkipList<ColumnNode> columns_;
  CommitPoint last_tombstone_;  // of the newest tombstone of any kind
};

}  // namespace stele::internal
