#include "memtable/column_node.h"

#include <algorithm>
#include <limits>
#include <new>

#include "base/invariant.h"
#include "cell/fold.h"

namespace stele::internal {
namespace {

constexpr uint64_t kNoRange = std::numeric_limits<uint64_t>::max();

uint64_t RangeSequence(const CellNode& cell) {
  return cell.kind() == CellKind::kDeleteRange ? cell.sequence() : kNoRange;
}

}  // namespace

ColumnNode::Cells::Cells(CellNode* first)
    : list(first), newest(first->sequence()), first_range(RangeSequence(*first)) {}

ColumnNode::ColumnNode(const Cell& cell, int height)
    : family_(cell.family),
      qualifier_size_(static_cast<uint16_t>(cell.qualifier.size())),
      height_(static_cast<uint8_t>(height)),
      is_tombstones_(cell.kind < CellKind::kDeleteRange) {}

size_t ColumnNode::BytesBeforeCell(size_t qualifier_bytes, int height) {
  const size_t bytes = sizeof(ColumnNode) +
                       static_cast<size_t>(height - 1) * sizeof(UpperLink<ColumnNode>) +
                       qualifier_bytes;
  return (bytes + 7) & ~size_t{7};
}

ColumnNode* ColumnNode::Make(Arena* arena, const Cell& cell, const CommitPoint& commit,
                             int height) {
  const size_t bytes_before_cell = BytesBeforeCell(cell.qualifier.size(), height);
  char* memory = arena->Allocate(bytes_before_cell + CellNode::BytesFor(cell, 1));
  if (memory == nullptr) return nullptr;
  auto* column = new (memory) ColumnNode(cell, height);
  for (int level = 1; level < height; ++level)
    new (&column->upper_link(level)) UpperLink<ColumnNode>;
  std::copy_n(cell.qualifier.data(), cell.qualifier.size(),
              reinterpret_cast<char*>(&column->upper_link(height)));
  CellNode::MakeAt(memory + bytes_before_cell, cell, commit, 1,
                   {.since = commit, .unfolded_count = 1});
  return column;
}

bool ColumnNode::Insert(Arena* arena, Random* random, const Cell& cell, const CommitPoint& commit,
                        const CommitPoint& last_tombstone) {
  Cells* const cells = MakeCells(arena);
  if (cells == nullptr) return false;
  const CellPlace place{cell.timestamp, cell.kind, commit};
  SkipList<CellNode>::Link* const link =
      cells->list.FindLink([&](const CellNode& node) { return internal::IsBefore(node, place); });
  const int height = cells->list.NextHeight(arena, random, newest());
  if (height == 0) return false;
  CellNode* const node = cell.is_delta() ? MakeDelta(arena, cell, commit, height, last_tombstone,
                                                     link->load(std::memory_order_relaxed))
                                         : MakeCell(arena, cell, commit, height, {});
  if (node == nullptr) return false;
  cells->newest.store(commit.sequence, std::memory_order_relaxed);
  if (cells->first_range.load(std::memory_order_relaxed) == kNoRange)
    cells->first_range.store(RangeSequence(*node), std::memory_order_relaxed);
  cells->list.Insert(node, link);
  return true;
}

ColumnNode::Cells* ColumnNode::MakeCells(Arena* arena) {
  Cells* cells = cells_.load(std::memory_order_relaxed);
  if (cells != nullptr) return cells;
  char* memory = arena->Allocate(sizeof(Cells));
  if (memory == nullptr) return nullptr;
  cells = new (memory) Cells(first_inserted());
  cells_.store(cells, std::memory_order_release);
  return cells;
}

CellNode* ColumnNode::MakeCell(Arena* arena, const Cell& cell, const CommitPoint& commit,
                               int height, const DeltaSpan& span) {
  char* memory = arena->Allocate(CellNode::BytesFor(cell, height));
  return memory == nullptr ? nullptr : CellNode::MakeAt(memory, cell, commit, height, span);
}

// `older` is the node that will follow it in the list.
CellNode* ColumnNode::MakeDelta(Arena* arena, const Cell& cell, const CommitPoint& commit,
                                int height, const CommitPoint& last_tombstone,
                                const CellNode* older) {
  const auto is_before_it = [&](const CellNode* node) {
    return node != nullptr && node->timestamp() == cell.timestamp && node->kind() == cell.kind &&
           node->commit() > last_tombstone;
  };
  DeltaSpan span{.since = commit, .unfolded_count = 1};
  if (!is_before_it(older)) return MakeCell(arena, cell, commit, height, span);
  span.unfolded_count += older->delta_span().unfolded_count;
  if (cell.kind == CellKind::kHll && span.unfolded_count < kUnfoldedDeltasMax)
    return MakeCell(arena, cell, commit, height, span);
  span.unfolded_count = 0;
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
  return MakeCell(arena, folded, commit, height, span);
}

const CellNode* ColumnNode::SeekCell(const CellPlace& place) const {
  const auto is_before = [&](const CellNode& node) { return internal::IsBefore(node, place); };
  const Cells* cells = cells_.load(std::memory_order_acquire);
  if (cells != nullptr) return cells->list.Seek(is_before);
  return is_before(*first_inserted()) ? nullptr : first_inserted();
}

bool ColumnNode::HasRangesAt(uint64_t sequence) const {
  const Cells* cells = cells_.load(std::memory_order_acquire);
  return sequence >= (cells == nullptr ? RangeSequence(*first_inserted())
                                       : cells->first_range.load(std::memory_order_relaxed));
}

}  // namespace stele::internal
