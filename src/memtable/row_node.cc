#include "memtable/row_node.h"

#include <algorithm>
#include <new>

namespace stele::internal {

RowNode* RowNode::Make(Arena* arena, std::string_view row_key, uint64_t sequence, int height) {
  char* memory = arena->Allocate(sizeof(RowNode) + height * sizeof(Link) + row_key.size());
  if (memory == nullptr) return nullptr;
  auto* row = new (memory) RowNode(row_key, sequence, height);
  for (int level = 0; level < height; ++level) new (row->links() + level) Link;
  std::copy_n(row_key.data(), row_key.size(), reinterpret_cast<char*>(row->links() + height));
  return row;
}

}  // namespace stele::internal
