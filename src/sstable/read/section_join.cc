#include "sstable/read/section_join.h"

#include <algorithm>
#include <span>

#include "cell/held_cells.h"

namespace stele::internal {

SectionJoin::SectionJoin(std::vector<std::unique_ptr<CellCursor>> cursors, Direction direction)
    : direction_(direction) {
  for (auto& cursor : cursors) parts_.emplace_back().cursor = std::move(cursor);
}

bool SectionJoin::Part::Fill() {
  if (has_cell()) return true;
  cells.clear();
  next = 0;
  is_unpin_due = false;
  if (!is_in_row || !cursor->ReadCells(&cells)) return false;
  ++batch_count;
  return true;
}

// Like RowMerge::UnpinSource.
void SectionJoin::Part::Unpin() {
  if (!has_cell()) {
    held = Buffer();
  } else {
    if (batch_count == 0) return;
    is_unpin_due = true;
    if (batch_count <= kBatchesBeforeHold) return;
    absl::StatusOr<Buffer> copied = CopyOut(std::span(cells).subspan(next));
    if (!copied.ok()) return;
    held = *std::move(copied);
  }
  is_unpin_due = false;
  cursor->Unpin();
  batch_count = 0;
}

// Memory is released only in the caller's Unpin. So the batch ends here, and the next Unpin can
// release memory that an earlier one could not.
bool SectionJoin::IsAnyUnpinDue() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.is_unpin_due && !part.has_cell(); });
}

bool SectionJoin::HasFailed() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return !part.cursor->status().ok(); });
}

absl::Status SectionJoin::status() const {
  for (const Part& part : parts_) {
    if (!part.cursor->status().ok()) return part.cursor->status();
  }
  return absl::OkStatus();
}

bool SectionJoin::EnterRow() {
  const Part* first = nullptr;
  for (Part& part : parts_) {
    part.cells.clear();
    part.next = 0;
    part.is_unpin_due = false;
    part.batch_count = 0;
    part.held = Buffer();
    part.is_in_row = false;
    if (!part.has_row) continue;
    if (first == nullptr ||
        (direction_ == Direction::kForward ? part.cursor->row_key() < first->cursor->row_key()
                                           : part.cursor->row_key() > first->cursor->row_key())) {
      first = &part;
    }
  }
  if (first == nullptr || HasFailed()) return false;
  row_key_ = first->cursor->row_key();
  for (Part& part : parts_) part.is_in_row = part.has_row && part.cursor->row_key() == row_key_;
  return true;
}

bool SectionJoin::SeekToEdge() {
  for (Part& part : parts_) part.has_row = part.cursor->SeekToEdge();
  return EnterRow();
}

bool SectionJoin::SeekRow(std::string_view bound) {
  for (Part& part : parts_) part.has_row = part.cursor->SeekRow(bound);
  return EnterRow();
}

bool SectionJoin::NextRow() {
  for (Part& part : parts_) {
    if (part.is_in_row) part.has_row = part.cursor->NextRow();
  }
  return EnterRow();
}

bool SectionJoin::ReadCells(std::vector<Cell>* cells) {
  const size_t count_before = cells->size();
  while (cells->size() < count_before + kCellBatch) {
    if (cells->size() > count_before &&
        (cells->back().value.size() >= kBatchEndingBytes || IsAnyUnpinDue()))
      break;
    Part* least = nullptr;
    const Cell* bound = nullptr;  // the least cell of the others
    for (Part& part : parts_) {
      if (!part.Fill()) continue;
      const Cell& cell = part.cells[part.next];
      if (least == nullptr) {
        least = &part;
      } else if (CompareCells(cell, least->cells[least->next]) < 0) {
        bound = &least->cells[least->next];
        least = &part;
      } else if (bound == nullptr || CompareCells(cell, *bound) < 0) {
        bound = &cell;
      }
    }
    if (least == nullptr) break;
    do {
      cells->push_back(least->cells[least->next++]);
    } while (cells->size() < count_before + kCellBatch &&
             cells->back().value.size() < kBatchEndingBytes && least->has_cell() &&
             (bound == nullptr || CompareCells(least->cells[least->next], *bound) < 0));
  }
  if (HasFailed()) cells->resize(count_before);
  return cells->size() > count_before;
}

bool SectionJoin::IsRowDone() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return !part.has_cell() && (!part.is_in_row || part.cursor->IsRowDone());
  });
}

void SectionJoin::SkipTo(uint32_t family, std::string_view qualifier) {
  for (Part& part : parts_) {
    if (!part.is_in_row) continue;
    // Cells read in advance that are before the column may be dropped, except tombstones of the row
    // or a family.
    const auto is_before = [&](const Cell& cell) {
      if (cell.kind < CellKind::kDeleteRange) return false;
      return cell.family != family ? cell.family < family : cell.qualifier < qualifier;
    };
    const auto unread = part.cells.begin() + static_cast<ptrdiff_t>(part.next);
    part.cells.erase(std::remove_if(unread, part.cells.end(), is_before), part.cells.end());
    part.cursor->SkipTo(family, qualifier);
  }
}

void SectionJoin::Unpin() {
  for (Part& part : parts_) part.Unpin();
}

}  // namespace stele::internal
