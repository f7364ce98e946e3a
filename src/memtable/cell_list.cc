#include "memtable/cell_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/invariant.h"
#include "cell/fold.h"

namespace stele::internal {
namespace {

// One node in four is one level higher.
int TowerHeight(Random* random, int height_max) {
  return std::min(1 + std::countr_zero(random->Next()) / 2, height_max);
}

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

CellNode* CellNode::Make(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                         const DeltaSpan& span) {
  std::string_view head;
  if (cell.kind == CellKind::kDeleteRange)
    head = {reinterpret_cast<const char*>(&cell.range_start), sizeof cell.range_start};
  if (cell.is_delta()) head = {reinterpret_cast<const char*>(&span), sizeof span};
  const size_t value_bytes = head.size() + cell.value.size();
  const size_t links_bytes = static_cast<size_t>(height - 1) * sizeof(UpperLink);
  char* memory =
      arena->Allocate(sizeof(CellNode) + links_bytes + cell.qualifier.size() + value_bytes);
  if (memory == nullptr) return nullptr;
  auto* node = new (memory) CellNode(cell, commit, height, value_bytes);
  for (int level = 1; level < height; ++level) new (&node->upper_link(level)) UpperLink;
  char* bytes = reinterpret_cast<char*>(&node->upper_link(height));
  bytes = std::copy_n(cell.qualifier.data(), cell.qualifier.size(), bytes);
  bytes = std::copy_n(head.data(), head.size(), bytes);
  std::copy_n(cell.value.data(), cell.value.size(), bytes);
  return node;
}

DeltaSpan CellNode::delta_span() const {
  DeltaSpan span;
  std::memcpy(&span, bytes() + qualifier_bytes_, sizeof span);
  return span;
}

std::string_view CellNode::delta_value() const {
  return {bytes() + qualifier_bytes_ + sizeof(DeltaSpan), value_bytes_ - sizeof(DeltaSpan)};
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
  } else if (IsDelta(kind_)) {
    cell.value = delta_value();
  } else {
    cell.value = std::string_view(bytes() + qualifier_bytes_, value_bytes_);
  }
  return cell;
}

bool CellList::Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit) {
  if (count_ >= kPlainCells && tower_.load(std::memory_order_relaxed) == nullptr &&
      !GrowTower(arena, commit.sequence))
    return false;
  const int height = count_ < kPlainCells ? 1 : TowerHeight(random, kHeightMax);
  Link* const before = FindLink({cell, commit});
  CellNode* const next = before->load(std::memory_order_relaxed);
  CellNode* const node = cell.is_delta() ? MakeDelta(arena, cell, commit, height, next)
                                         : CellNode::Make(arena, cell, commit, height);
  last_inserted_ = node;  // null: the path leads to another place
  if (node == nullptr) return false;
  if (cell.is_tombstone()) last_tombstone_ = commit;
  node->link().store(next, std::memory_order_relaxed);
  before->store(node, std::memory_order_release);
  if (Tower* tower = tower_.load(std::memory_order_relaxed); tower != nullptr)
    LinkAbove(node, tower);
  ++count_;
  return true;
}

// When the new node splits an upper link, both parts inherit the link's `newest`, which is a valid
// upper bound for each.
void CellList::LinkAbove(CellNode* node, Tower* tower) {
  for (int level = 1; level < node->height(); ++level) {
    UpperLink& own = node->upper_link(level);
    UpperLink& before = *tower->path[level];
    own.node.store(before.node.load(std::memory_order_relaxed), std::memory_order_relaxed);
    own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
    before.node.store(node, std::memory_order_release);
    tower->path[level] = &own;
  }
  for (int level = node->height(); level < kHeightMax; ++level) {
    tower->path[level]->newest.store(node->sequence(), std::memory_order_relaxed);
  }
}

CellNode* CellList::MakeDelta(Arena* arena, const Cell& cell, const CommitPoint& commit, int height,
                              const CellNode* older) const {
  const auto is_before_it = [&](const CellNode* node) {
    return node != nullptr && CompareCells(node->cell_key(), cell) == 0 &&
           node->commit() > last_tombstone_;
  };
  DeltaSpan span{.since = commit, .plain_count = 1};
  if (!is_before_it(older)) return CellNode::Make(arena, cell, commit, height, span);
  span.plain_count += older->delta_span().plain_count;
  if (cell.kind == CellKind::kHll && span.plain_count < kPlainDeltas)
    return CellNode::Make(arena, cell, commit, height, span);
  span.plain_count = 0;
  Fold fold;
  fold.Start(cell.kind);
  STELE_CHECK(fold.Add(cell.value));  // the code that read the batch has checked the value
  do {
    STELE_CHECK(fold.Add(older->delta_value()));
    span.since = older->delta_span().since;
    older = span.since == older->commit() ? older->next() : nullptr;
  } while (is_before_it(older));
  Cell folded = cell;
  folded.value = fold.Value();
  return CellNode::Make(arena, folded, commit, height, span);
}

CellList::Link* CellList::FindLink(const CellPlace& place) {
  Tower* tower = tower_.load(std::memory_order_relaxed);
  if (last_inserted_ != nullptr && IsBefore(*last_inserted_, place)) {
    Link* const link = &last_inserted_->link();
    const CellNode* next = link->load(std::memory_order_relaxed);
    if (next == nullptr || !IsBefore(*next, place)) return link;
    if (tower == nullptr) return FindPlainLink(place, link);
  }
  CellNode* at = nullptr;  // the head
  for (int level = kHeightMax - 1; tower != nullptr && level > 0; --level) {
    UpperLink* link = at == nullptr ? &tower->links[level] : &at->upper_link(level);
    for (CellNode* next;
         (next = link->node.load(std::memory_order_relaxed)) != nullptr && IsBefore(*next, place);
         link = &at->upper_link(level)) {
      at = next;
    }
    tower->path[level] = link;
  }
  return FindPlainLink(place, at == nullptr ? &first_ : &at->link());
}

CellList::Link* CellList::FindPlainLink(const CellPlace& place, Link* from) {
  CellNode* next;
  while ((next = from->load(std::memory_order_relaxed)) != nullptr && IsBefore(*next, place))
    from = &next->link();
  return from;
}

bool CellList::GrowTower(Arena* arena, uint64_t newest) {
  char* memory = arena->Allocate(sizeof(Tower));
  if (memory == nullptr) return false;
  auto* tower = new (memory) Tower;
  for (int level = 1; level < kHeightMax; ++level) {
    tower->links[level].newest.store(newest, std::memory_order_relaxed);
    tower->path[level] = &tower->links[level];
  }
  tower_.store(tower, std::memory_order_release);
  return true;
}

const CellNode* CellList::Seek(const CellPlace& place) const {
  const CellNode* at = nullptr;  // the head
  if (const Tower* tower = tower_.load(std::memory_order_acquire); tower != nullptr) {
    for (int level = kHeightMax - 1; level > 0; --level) {
      const CellNode* next = (at == nullptr ? tower->links[level] : at->upper_link(level))
                                 .node.load(std::memory_order_acquire);
      while (next != nullptr && IsBefore(*next, place)) {
        at = next;
        next = at->upper_link(level).node.load(std::memory_order_acquire);
      }
    }
  }
  const CellNode* next = at == nullptr ? First() : at->next();
  while (next != nullptr && IsBefore(*next, place)) next = next->next();
  return next;
}

const CellNode* CellList::NextSince(uint64_t sequence, const CellNode* from, const CellPlace& end) {
  const CellNode* at = from;
  while (true) {
    const CellNode* next = nullptr;
    for (int level = at->height() - 1; level > 0 && next == nullptr; --level) {
      const UpperLink& link = at->upper_link(level);
      if (link.newest.load(std::memory_order_relaxed) >= sequence) continue;
      const CellNode* over = link.node.load(std::memory_order_acquire);
      if (over != nullptr && IsBefore(*over, end)) next = over;
    }
    if (next == nullptr) next = at->next();
    if (next == nullptr || next->sequence() >= sequence || !IsBefore(*next, end)) return next;
    at = next;
  }
}

}  // namespace stele::internal
