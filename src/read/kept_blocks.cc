#include "read/kept_blocks.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::internal {

ArenaBlocks BlocksOfRow(ArenaBlocks blocks, const RowView& row) {
  // Addresses of different blocks are compared, which only std::less orders.
  const std::less<const char*> before;
  std::sort(blocks.begin(), blocks.end(), [&before](const auto& a, const auto& b) { return before(a->data(), b->data()); });
  std::vector<bool> has_bytes(blocks.size(), false);
  const auto look_up = [&](std::string_view bytes) {
    if (bytes.empty()) return;
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), bytes.data(),
                                        [&before](const char* address, const auto& block) { return before(address, block->data()); });
    if (after == blocks.begin()) return;
    const Buffer& block = **(after - 1);
    if (before(bytes.data(), block.data() + block.size())) has_bytes[static_cast<size_t>(after - blocks.begin()) - 1] = true;
  };
  look_up(row.row_key());
  for (const CellView& cell : row.cells()) {
    look_up(cell.qualifier());
    look_up(cell.value());
  }
  ArenaBlocks kept;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (has_bytes[i]) kept.push_back(std::move(blocks[i]));
  }
  return kept;
}

}  // namespace stele::internal
