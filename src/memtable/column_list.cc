#include "memtable/column_list.h"

namespace stele::internal {

bool ColumnList::Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit) {
  const ColumnPlace place = ColumnPlace::Of(cell);
  SkipList<ColumnNode>::Link* link = nullptr;
  ColumnNode* column = columns_.last_inserted();
  if (column == nullptr || !column->IsAt(place)) {
    link = columns_.FindLink([&](const ColumnNode& node) { return node.IsBefore(place); });
    column = link->load(std::memory_order_relaxed);
  }
  if (column == nullptr || !column->IsAt(place)) {
    if (!InsertColumn(arena, random, cell, commit, link)) return false;
  } else {
    if (!column->Insert(arena, random, cell, commit, last_tombstone_)) return false;
    columns_.MarkChanged(column);
  }
  if (cell.is_tombstone()) last_tombstone_ = commit;
  return true;
}

bool ColumnList::InsertColumn(Arena* arena, Random* random, const Cell& cell,
                              const CommitPoint& commit, SkipList<ColumnNode>::Link* link) {
  const int height = columns_.NextHeight(arena, random, commit.sequence);
  if (height == 0) return false;
  ColumnNode* const column = ColumnNode::Make(arena, cell, commit, height);
  if (column == nullptr) return false;
  columns_.Insert(column, link);
  return true;
}

}  // namespace stele::internal
