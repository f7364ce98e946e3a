#include "read/scan_view.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace stele::internal {

ArenaBlocks BlocksOfRow(ArenaBlocks blocks, const RowView& row) {
  // Compares addresses of different blocks, which only std::less orders.
  const std::less<const char*> before;
  std::sort(blocks.begin(), blocks.end(),
            [&before](const auto& a, const auto& b) { return before(a->data(), b->data()); });
  std::vector<bool> has_bytes(blocks.size(), false);
  const auto look_up = [&](std::string_view bytes) {
    if (bytes.empty()) return;
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), bytes.data(),
                                        [&before](const char* address, const auto& block) {
                                          return before(address, block->data());
                                        });
    if (after == blocks.begin()) return;
    const Buffer& block = **(after - 1);
    if (before(bytes.data(), block.data() + block.size()))
      has_bytes[static_cast<size_t>(after - blocks.begin()) - 1] = true;
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

std::shared_ptr<const TableView> ScanView::Switch(const RowView& shown) {
  if (pin_ == nullptr) return nullptr;
  // Read before the view, so that a replacement in between is noticed later.
  replacements_seen_ = pin_->replacements();
  std::shared_ptr<const TableView> before = table_;
  table_ = pin_->view()->tables.at(before->definition().id);
  if (table_ == before) return nullptr;
  const std::vector<std::shared_ptr<const Memtable>>& memtables = table_->memtables;
  ArenaBlocks gone;
  for (const std::shared_ptr<const Memtable>& memtable : before->memtables) {
    if (std::find(memtables.begin(), memtables.end(), memtable) == memtables.end())
      memtable->AppendBlocks(&gone);
  }
  uint64_t kept_bytes = kept_charge_.bytes();
  for (std::shared_ptr<const Buffer>& block : BlocksOfRow(std::move(gone), shown)) {
    kept_bytes += block->memory_bytes();
    kept_blocks_.push_back(std::move(block));
  }
  kept_charge_.Set(kept_bytes);
  return before;
}

void ScanView::FreeShown() {
  kept_blocks_.clear();
  kept_charge_.Set(0);
}

void ScanView::Close() {
  FreeShown();
  table_.reset();
  pin_.reset();
}

}  // namespace stele::internal
