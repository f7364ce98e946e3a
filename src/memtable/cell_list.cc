#include "memtable/cell_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace stele::internal {
namespace {

// One in four goes a level higher.
int RandomHeight(Random* random, int height_max) { return std::min(1 + std::countr_zero(random->Next()) / 2, height_max); }

}  // namespace

CellNode::CellNode(const Cell& cell, const CommitPoint& commit, int height, size_t value_bytes)
    : sequence_(commit.sequence),
      timestamp_(cell.timestamp),
      position_(commit.position),
      family_(cell.family),
      value_bytes_(static_cast<uint32_t>(value_bytes)),
      qualifier_bytes_(static_cast<uint16_t>(cell.qualifier.size())),
      kind_(cell.kind),
      height_(static_cast<uint8_t>(height)) {}

CellNode* CellNode::Make(Arena* arena, const Cell& cell, const CommitPoint& commit, int height) {
  char start[sizeof cell.range_start];
  std::memcpy(start, &cell.range_start, sizeof start);
  const std::string_view value = cell.kind == CellKind::kDeleteRange ? std::string_view(start, sizeof start) : cell.value;
  char* memory = arena->Allocate(sizeof(CellNode) + height * sizeof(Link) + cell.qualifier.size() + value.size());
  if (memory == nullptr) return nullptr;
  auto* node = new (memory) CellNode(cell, commit, height, value.size());
  for (int level = 0; level < height; ++level) new (node->links() + level) Link(nullptr);
  char* bytes = reinterpret_cast<char*>(node->links() + height);
  std::copy_n(cell.qualifier.data(), cell.qualifier.size(), bytes);
  std::copy_n(value.data(), value.size(), bytes + cell.qualifier.size());
  return node;
}

int64_t CellNode::range_start() const {
  int64_t start;
  std::memcpy(&start, bytes() + qualifier_bytes_, sizeof start);
  return start;
}

Cell CellNode::AsCell(uint32_t family) const {
  Cell cell{.family = family, .kind = kind_, .timestamp = timestamp_, .qualifier = qualifier()};
  if (kind_ == CellKind::kDeleteRange) {
    cell.range_start = range_start();
  } else {
    cell.value = std::string_view(bytes() + qualifier_bytes_, value_bytes_);
  }
  return cell;
}

bool CellList::Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit) {
  if (count_ >= kPlainCells && tower_.load(std::memory_order_relaxed) == nullptr && !GrowTower(arena)) return false;
  const int height = count_ < kPlainCells ? 1 : RandomHeight(random, kHeightMax);
  CellNode* node = CellNode::Make(arena, cell, commit, height);
  if (node == nullptr) return false;
  Link* before[kHeightMax];
  FindLinks({cell, commit}, height, before);
  for (int level = 0; level < height; ++level) {
    node->links()[level].store(before[level]->load(std::memory_order_relaxed), std::memory_order_relaxed);
    before[level]->store(node, std::memory_order_release);
  }
  last_inserted_ = node;
  ++count_;
  return true;
}

void CellList::FindLinks(const CellPlace& place, int height, Link** before) {
  Tower* tower = tower_.load(std::memory_order_relaxed);
  if (last_inserted_ != nullptr && height == 1 && IsBefore(*last_inserted_, place)) {
    before[0] = last_inserted_->links();
    const CellNode* next = last_inserted_->next();
    if (next == nullptr || !IsBefore(*next, place)) return;
    if (tower == nullptr) {
      before[0] = FindPlainLink(place, before[0]);
      return;
    }
  }
  CellNode* at = nullptr;  // the head
  for (int level = kHeightMax - 1; tower != nullptr && level > 0; --level) {
    Link* link = at == nullptr ? &tower->links[level] : &at->links()[level];
    for (CellNode* next; (next = link->load(std::memory_order_relaxed)) != nullptr && IsBefore(*next, place); link = &at->links()[level]) {
      at = next;
    }
    if (level < height) before[level] = link;
  }
  before[0] = FindPlainLink(place, at == nullptr ? &first_ : at->links());
}

CellList::Link* CellList::FindPlainLink(const CellPlace& place, Link* from) {
  CellNode* next;
  while ((next = from->load(std::memory_order_relaxed)) != nullptr && IsBefore(*next, place)) from = next->links();
  return from;
}

bool CellList::GrowTower(Arena* arena) {
  char* memory = arena->Allocate(sizeof(Tower));
  if (memory == nullptr) return false;
  auto* tower = new (memory) Tower;
  for (Link& link : tower->links) link.store(nullptr, std::memory_order_relaxed);
  tower_.store(tower, std::memory_order_release);
  return true;
}

const CellNode* CellList::Seek(const CellPlace& place) const {
  const CellNode* at = nullptr;  // the head
  if (const Tower* tower = tower_.load(std::memory_order_acquire); tower != nullptr) {
    for (int level = kHeightMax - 1; level > 0; --level) {
      const CellNode* next = (at == nullptr ? tower->links : at->links())[level].load(std::memory_order_acquire);
      while (next != nullptr && IsBefore(*next, place)) {
        at = next;
        next = at->links()[level].load(std::memory_order_acquire);
      }
    }
  }
  const CellNode* next = at == nullptr ? First() : at->next();
  while (next != nullptr && IsBefore(*next, place)) next = next->next();
  return next;
}

}  // namespace stele::internal
