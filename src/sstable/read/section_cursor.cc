#include "sstable/read/section_cursor.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "sstable/read/large_value.h"

namespace stele::internal {

namespace {

// True if no row tombstone needs the section, and the options may make its groups unnecessary.
bool CanSkipGroups(const OpenSstable& table, const OpenSection& section,
                   const CursorOptions& options) {
  if (section.number == 0 && table.footer.summary.row_tombstones != 0) return false;
  const auto is_skipped = [&](uint32_t family_index) {
    return family_index >= options.families.size() ||
           options.families[family_index] == kSkippedFamily;
  };
  const std::vector<uint32_t>& family_indexes = section.reference->family_indexes;
  return !options.spans.empty() ||
         std::any_of(family_indexes.begin(), family_indexes.end(), is_skipped);
}

}  // namespace

SectionCursor::SectionCursor(std::shared_ptr<const void> owner, const OpenSstable& table,
                             const OpenSection& section, const CursorOptions& options)
    : owner_(std::move(owner)),
      table_(table),
      section_(section),
      options_(options),
      loader_(table, section, options_),
      prefetch_(owner_, table, section, options_),
      can_skip_groups_(CanSkipGroups(table, section, options_)),
      pinned_charge_(table.memory_tracker(), MemoryTracker::Use::kBlocks) {}

class SectionCursor::Lazy final : public LazyValue {
 public:
  Lazy(SectionCursor* cursor, LargeValueReference reference)
      : cursor_(*cursor), reference_(std::move(reference)) {}

  absl::Status ReadInto(Cell* cell) override {
    const absl::StatusOr<std::string_view> value = cursor_.ReadLarge(reference_);
    // The cells that were returned stay valid, but the caller must be able to find out which file
    // failed.
    if (!value.ok() && cursor_.options_.failure != nullptr)
      *cursor_.options_.failure = value.status();
    STELE_RETURN_IF_ERROR(value.status());
    cell->SetReadValue(*value);
    return absl::OkStatus();
  }

 private:
  SectionCursor& cursor_;
  const LargeValueReference reference_;
};

SectionCursor::~SectionCursor() = default;

bool SectionCursor::Fail(absl::Status status) {
  status_ = std::move(status);
  if (options_.failure != nullptr) *options_.failure = status_;
  return AtEnd();
}

bool SectionCursor::AtEnd() {
  is_positioned_ = false;
  return false;
}

bool SectionCursor::CanSkipGroup(size_t group_index) const {
  if (!can_skip_groups_ || section_.index.continues_row(group_index) ||
      section_.index.is_continued(group_index))
    return false;
  return !loader_.HasWantedCells(section_.index.group(group_index));
}

size_t SectionCursor::SkipGroups(size_t group_index) const {
  while (group_index < section_.index.group_count() && CanSkipGroup(group_index)) ++group_index;
  return group_index;
}

bool SectionCursor::LoadGroup(size_t group_index) {
  if (group_ != nullptr && group_index_ == group_index && is_group_whole_) return true;
  // row_key_ points into the part, whose memory the complete group keeps.
  absl::StatusOr<GroupPointer> group =
      prefetch_.LoadAll(group_index, &loader_, group_index_ == group_index ? group_ : nullptr);
  if (!group.ok()) return Fail(std::move(group).status());
  SetGroup(*std::move(group), group_index, true);
  return true;
}

void SectionCursor::SetGroup(GroupPointer group, size_t group_index, bool is_whole) {
  group_ = std::move(group);
  group_index_ = group_index;
  is_group_whole_ = is_whole;
  stripe_begin_ = stripe_end_ = 0;
  if (options_.stats != nullptr) options_.stats->bytes_pinned += group_->memory_bytes();
}

bool SectionCursor::EnterStripe() {
  if (row_ >= stripe_begin_ && row_ < stripe_end_) return true;
  if (!is_group_whole_ && !LoadGroup(group_index_)) return false;
  SetStripe(row_);
  return true;
}

// Determines the pages with the row's cells, and the surrounding rows with the same pages. Its
// blocks are loaded.
void SectionCursor::SetStripe(uint32_t row) {
  wanted_.clear();
  stripe_begin_ = 0;
  stripe_end_ = group_->row_count();
  // A block that the statistics rule out has no pages here, and the next one of its families may
  // have.
  group_->ForEachPageOfRow(row, options_.families, &stripe_begin_, &stripe_end_,
                           [this](const FamilyPage& page) {
                             wanted_.push_back({&page, options_.families[page.family_index()]});
                           });
}

// Finds the row's pages only when its cells are read: callers that need only row keys pay nothing.
bool SectionCursor::BeginRow(uint32_t row) {
  row_ = row;
  row_key_ = group_->keys().key(row);
  page_next_ = 0;
  cell_ = cell_end_ = 0;
  is_row_tombstone_due_ = group_->keys().has_row_tombstones() && group_->keys().is_row_deleted(row);
  family_tombstone_due_ = 0;
  is_positioned_ = true;
  start_group_ = nullptr;
  Unpin();
  return true;
}

bool SectionCursor::EnterRow(uint32_t row) {
  if (row == 0 && section_.index.continues_row(group_index_)) {
    // The key is in the group that is about to be released; the index has the same key.
    const size_t begin = section_.index.LowerBound(group_->keys().key(0));
    if (begin < group_index_) return EnterLastRowOf(begin);
  }
  return BeginRow(row);
}

bool SectionCursor::EnterLastRowOf(size_t group_index) {
  for (; CanSkipGroup(group_index); --group_index) {
    if (group_index == 0) return AtEnd();
  }
  if (!LoadGroup(group_index)) return false;
  return EnterRow(group_->row_count() - 1);
}

bool SectionCursor::SeekToEdge() {
  status_ = absl::OkStatus();
  const size_t group_count = section_.index.group_count();
  if (group_count == 0) return AtEnd();
  if (!is_forward()) return EnterLastRowOf(group_count - 1);
  const size_t first = SkipGroups(0);
  return first == group_count ? AtEnd() : LoadGroup(first) && EnterRow(0);
}

bool SectionCursor::SeekRow(std::string_view bound) {
  status_ = absl::OkStatus();
  const size_t group_index = section_.index.LowerBound(bound);
  if (group_index == section_.index.group_count()) {
    return is_forward() || group_index == 0 ? AtEnd() : EnterLastRowOf(group_index - 1);
  }
  uint32_t row;
  if (group_ != nullptr && group_index_ == group_index && is_group_whole_) {
    row = group_->keys().LowerBound(bound);
  } else {
    absl::StatusOr<GroupPointer> group =
        loader_.LoadRow(group_index, bound, options_.direction, &row);
    if (!group.ok()) return Fail(std::move(group).status());
    SetGroup(*std::move(group), group_index, false);
  }
  if (!is_forward() && row == 0)
    return group_index == 0 ? AtEnd() : EnterLastRowOf(group_index - 1);
  // The row exists, since the group's last row is not below the bound.
  const uint32_t found = is_forward() ? row : row - 1;
  if (!is_group_whole_ && !RowContinues(found)) {
    SetStripe(found);
    for (const WantedPage& wanted : wanted_) wanted.page->PrefetchRow(found);
  }
  return EnterRow(found);
}

bool SectionCursor::NextRow() {
  if (!is_positioned_) return false;
  return is_forward() ? NextRowForward() : NextRowReverse();
}

bool SectionCursor::NextRowForward() {
  if (row_ + 1 < group_->row_count()) return BeginRow(row_ + 1);
  const size_t group_count = section_.index.group_count();
  size_t next = group_index_ + 1;
  uint32_t row = 0;
  if (next < group_count && section_.index.continues_row(next)) {
    next = section_.index.UpperBound(row_key_);
    // Row 0 of the next group is the rest of this row.
    if (next < group_count && section_.index.continues_row(next)) row = 1;
  }
  if (row == 0) next = SkipGroups(next);
  if (next == group_count) return AtEnd();
  if (!LoadGroup(next)) return false;
  return BeginRow(row);
}

bool SectionCursor::NextRowReverse() {
  if (start_group_ != nullptr) {
    if (!LoadGroup(start_group_index_)) return false;
    row_ = start_row_;
  }
  if (row_ > 0) return EnterRow(row_ - 1);
  return group_index_ == 0 ? AtEnd() : EnterLastRowOf(group_index_ - 1);
}

bool SectionCursor::RowContinues(uint32_t row) const {
  return row + 1 == group_->row_count() && section_.index.is_continued(group_index_);
}

bool SectionCursor::ContinueIn(size_t group_index) {
  if (start_group_ == nullptr) {
    start_group_ = group_;
    start_group_index_ = group_index_;
    start_row_ = row_;
  } else {
    pinned_groups_.push_back(group_);
  }
  if (!LoadGroup(group_index)) return false;
  row_ = 0;
  page_next_ = 0;
  cell_ = cell_end_ = 0;
  return true;
}

bool SectionCursor::FollowRow() {
  for (size_t next = group_index_ + 1;
       next < section_.index.group_count() && section_.index.continues_row(next); ++next) {
    const GroupReference group = section_.index.group(next);
    if (loader_.HasWantedCells(group)) return ContinueIn(next);
    if (group.row_count > 1) break;
  }
  return false;
}

bool SectionCursor::ReadCells(std::vector<Cell>* cells) {
  if (!is_positioned_ || !EnterStripe()) return false;
  const size_t count_before = cells->size();
  if (is_row_tombstone_due_ && HasUnknownTombstone()) return false;
  if (is_row_tombstone_due_) {
    cells->push_back({kRowFamily, CellKind::kDeleteRow});
    is_row_tombstone_due_ = false;
  }
  if (family_tombstone_due_ != kRowFamily) {
    cells->push_back({family_tombstone_due_, CellKind::kDeleteFamily});
    family_tombstone_due_ = kRowFamily;
  }
  for (;;) {
    if (cell_ < cell_end_) {
      bool is_batch_full = false;
      if (!FillCells(count_before + kCellBatch, cells, &is_batch_full)) {
        cells->resize(count_before);
        return false;
      }
      if (is_batch_full) return true;
    } else if (page_next_ < wanted_.size()) {
      const FamilyPage& page = *wanted_[page_next_++].page;
      cell_ = page.row_begin(row_);
      cell_end_ = page.row_begin(row_ + 1);
    } else if (cells->size() > count_before) {
      return true;
    } else if (!RowContinues(row_) || !FollowRow() || !EnterStripe()) {
      return false;
    }
  }
}

bool SectionCursor::IsRowDone() const {
  return row_ >= stripe_begin_ && row_ < stripe_end_ && page_next_ == wanted_.size() &&
         cell_ == cell_end_ && !RowContinues(row_) && !is_row_tombstone_due_ &&
         family_tombstone_due_ == kRowFamily;
}

// Called at a tombstone. Fails if the summary says that the file has none, since readers rely on
// the summary.
bool SectionCursor::HasUnknownTombstone() {
  if (table_.footer.summary.tombstones > 0) return false;
  Fail(DataLoss(table_.name, section_.index.group(group_index_).offset(),
                "a tombstone that the summary does not count"));
  return true;
}

// Returns true if the timestamp is not requested. Checks only large values, which would have to be
// read separately.
bool SectionCursor::IsSkipped(const FamilyPage& page, uint32_t index) const {
  return !options_.spans.empty() && page.kind(index) == StoredKind::kSetLarge &&
         !options_.spans[page.family_index()].Contains(page.timestamp(index));
}

bool SectionCursor::FillCells(size_t count_max, std::vector<Cell>* cells, bool* is_batch_full) {
  const WantedPage& wanted = wanted_[page_next_ - 1];
  const size_t count = cells->size();
  const auto end = static_cast<uint32_t>(std::min<size_t>(cell_end_, cell_ + (count_max - count)));
  if (wanted.page->is_plain()) {
    wanted.page->AppendPlain(cell_, end, wanted.family_index, cells);
    cell_ = end;
  } else {
    while (cell_ < end && !*is_batch_full) {
      if (IsSkipped(*wanted.page, cell_)) {
        ++cell_;
        continue;
      }
      Cell& cell = cells->emplace_back();
      cell.family = wanted.family_index;
      if (!FillCell(*wanted.page, cell_++, &cell, is_batch_full)) return false;
    }
  }
  if (cells->size() == count_max) *is_batch_full = true;
  return true;
}

bool SectionCursor::FillCell(const FamilyPage& page, uint32_t index, Cell* cell, bool* is_large) {
  cell->qualifier = page.qualifier(index);
  cell->timestamp = page.timestamp(index);
  switch (page.kind(index)) {
    case StoredKind::kDeleteFamily:
      if (HasUnknownTombstone()) return false;
      cell->kind = CellKind::kDeleteFamily;
      return true;
    case StoredKind::kDeleteRange:
      if (HasUnknownTombstone()) return false;
      cell->kind = CellKind::kDeleteRange;
      cell->range_start = static_cast<int64_t>(LoadFixed64(page.slot(index).data()));
      return true;
    case StoredKind::kSum:
    case StoredKind::kMin:
    case StoredKind::kMax:
    case StoredKind::kHll:
      cell->kind = static_cast<CellKind>(page.kind(index));
      cell->value = page.slot(index);
      return true;
    case StoredKind::kSet:
      cell->value = page.slot(index);
      return true;
    case StoredKind::kSetLarge:
      break;
  }
  // Ends the batch, so that the caller can release one large value before it reads the next one.
  *is_large = true;
  const uint64_t group_offset = section_.index.group(group_index_).offset();
  auto reference = ParseLargeValueReference(page.slot(index), group_offset,
                                            table_.footer.data_end(), table_.name);
  if (!reference.ok()) return Fail(std::move(reference).status());
  if (options_.defers_values) {
    const uint64_t value_bytes = reference->value_bytes;
    cell->SetLazy(lazy_.emplace_back(std::make_unique<Lazy>(this, *std::move(reference))).get(),
                  value_bytes);
    return true;
  }
  const auto value = ReadLarge(*reference);
  if (!value.ok()) return Fail(value.status());
  cell->value = *value;
  return true;
}

// Returns the value, which is pinned like returned cells.
absl::StatusOr<std::string_view> SectionCursor::ReadLarge(const LargeValueReference& reference) {
  if (options_.reserve_large_value != nullptr)
    STELE_RETURN_IF_ERROR((*options_.reserve_large_value)(reference.value_bytes));
  pinned_charge_.Set(pinned_charge_.bytes() + Buffer::MemoryBytesFor(reference.value_bytes));
  if (options_.stats != nullptr) options_.stats->bytes_pinned += reference.value_bytes;
  STELE_ASSIGN_OR_RETURN(Buffer value, ReadLargeValue(table_, reference, options_.stats));
  return pinned_values_.emplace_back(std::move(value)).view();
}

void SectionCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  if (!is_positioned_) return;
  const FamilyMap& map = options_.families;
  uint32_t family_index = 1;
  while (family_index < map.size() &&
         (map[family_index] == kSkippedFamily || map[family_index] < family))
    ++family_index;
  if (family_index >= map.size() || map[family_index] > family) {
    MoveToColumn(
        {family_index, CellKind::kDeleteFamily});  // past the family, to the beginning of the next
    return;
  }
  if (!PassFamilyTombstone(family_index)) return;
  Cell column{family_index, CellKind::kSet};
  column.qualifier = qualifier;
  MoveToColumn(column);
}

// A move to a column may pass the family's tombstone; it is returned first then. Returns false
// after a failure.
bool SectionCursor::PassFamilyTombstone(uint32_t family_index) {
  if (!table_.HasTombstones(family_index)) return true;
  MoveToColumn({family_index, CellKind::kDeleteFamily});
  if (!is_positioned_) return false;
  if (cell_ < cell_end_ && wanted_[page_next_ - 1].page->family_index() == family_index &&
      wanted_[page_next_ - 1].page->kind(cell_) == StoredKind::kDeleteFamily) {
    family_tombstone_due_ = wanted_[page_next_ - 1].family_index;
    ++cell_;
  }
  return true;
}

size_t SectionCursor::GroupOfColumn(const Cell& column) const {
  const size_t end = section_.index.UpperBound(row_key_);
  size_t low = group_index_;  // begins before the column
  size_t high =
      end < section_.index.group_count() && section_.index.continues_row(end) ? end + 1 : end;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const auto order = CompareColumn(section_.index.group(middle).first_cell, column);
    // A family's tombstone is one cell; a column may have more cells in the previous group.
    if (order < 0 || (order == 0 && column.kind == CellKind::kDeleteFamily)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void SectionCursor::MoveToColumn(const Cell& column) {
  if (RowContinues(row_)) {
    const size_t group_index = GroupOfColumn(column);
    if (group_index != group_index_ && !ContinueIn(group_index)) return;
  }
  if (!EnterStripe()) return;
  if (cell_ < cell_end_ && wanted_[page_next_ - 1].page->family_index() < column.family)
    cell_ = cell_end_;
  if (cell_ == cell_end_) {
    while (page_next_ < wanted_.size() && wanted_[page_next_].page->family_index() < column.family)
      ++page_next_;
    if (page_next_ == wanted_.size()) return;
    const FamilyPage& page = *wanted_[page_next_++].page;
    cell_ = page.row_begin(row_);
    cell_end_ = page.row_begin(row_ + 1);
  }
  const FamilyPage& page = *wanted_[page_next_ - 1].page;
  if (page.family_index() == column.family && column.kind == CellKind::kSet)
    cell_ = page.LowerBound(cell_, cell_end_, column.qualifier);
}

void SectionCursor::Unpin() {
  pinned_groups_.clear();
  pinned_values_.clear();
  // A lazy cell ends its batch, so only the last one may still be used.
  if (lazy_.size() > 1) lazy_.erase(lazy_.begin(), lazy_.end() - 1);
  pinned_charge_.Set(0);
}

}  // namespace stele::internal
