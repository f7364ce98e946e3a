#include "memtable/cell_node.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace stele::internal {
namespace {

// The bytes between a node's links and the value of its cell.
size_t HeadBytes(const Cell& cell) {
  if (cell.kind == CellKind::kDeleteRange) return sizeof cell.range_start;
  return cell.is_delta() ? sizeof(DeltaSpan) : 0;
}

}  // namespace

CellNode::CellNode(const Cell& cell, const CommitPoint& commit, int height, size_t value_bytes)
    : timestamp_(cell.timestamp),
      sequence_(commit.sequence),
      kind_(static_cast<uint64_t>(cell.kind)),
      height_(static_cast<uint64_t>(height)),
      position_(commit.position),
      value_bytes_(static_cast<uint32_t>(value_bytes)) {}

size_t CellNode::BytesFor(const Cell& cell, int height) {
  return sizeof(CellNode) + static_cast<size_t>(height - 1) * sizeof(UpperLink<CellNode>) +
         HeadBytes(cell) + cell.value.size();
}

CellNode* CellNode::MakeAt(char* memory, const Cell& cell, const CommitPoint& commit, int height,
                           const DeltaSpan& span) {
  const size_t head_bytes = HeadBytes(cell);
  auto* node = new (memory) CellNode(cell, commit, height, head_bytes + cell.value.size());
  for (int level = 1; level < height; ++level) new (&node->upper_link(level)) UpperLink<CellNode>;
  char* bytes = reinterpret_cast<char*>(&node->upper_link(height));
  if (cell.kind == CellKind::kDeleteRange) std::memcpy(bytes, &cell.range_start, head_bytes);
  if (cell.is_delta()) std::memcpy(bytes, &span, head_bytes);
  std::copy_n(cell.value.data(), cell.value.size(), bytes + head_bytes);
  return node;
}

DeltaSpan CellNode::delta_span() const {
  DeltaSpan span;
  std::memcpy(&span, bytes(), sizeof span);
  return span;
}

std::string_view CellNode::delta_value() const {
  return {bytes() + sizeof(DeltaSpan), value_bytes_ - sizeof(DeltaSpan)};
}

int64_t CellNode::range_start() const {
  int64_t start;
  std::memcpy(&start, bytes(), sizeof start);
  return start;
}

Cell CellNode::AsCell(uint32_t family, std::string_view qualifier) const {
  Cell cell{.family = family, .kind = kind(), .timestamp = timestamp_, .qualifier = qualifier};
  if (kind() == CellKind::kDeleteRange) {
    cell.range_start = range_start();
  } else if (IsDelta(kind())) {
    cell.value = delta_value();
  } else {
    cell.value = std::string_view(bytes(), value_bytes_);
  }
  return cell;
}

}  // namespace stele::internal
