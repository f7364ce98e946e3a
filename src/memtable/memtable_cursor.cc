#include "memtable/memtable_cursor.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/arena.h"
#include "base/invariant.h"
#include "base/status.h"
#include "cell/fold.h"
#include "memtable/active_ranges.h"

namespace stele::internal {
namespace {

// Following this many links is cheaper than a seek.
constexpr int kWalkedNodes = 8;
// The first batch of a row, or after a skip, is small, and later batches grow. A caller that needs
// only a column's newest version must not pay for all versions of a row that is overwritten often.
constexpr size_t kFirstBatch = 8;

class MemtableCursor final : public CellCursor {
 public:
  MemtableCursor(const RowList* rows, const RowNode* found, uint64_t sequence,
                 const CursorOptions& options)
      : rows_(rows),
        found_(found),
        sequence_(sequence),
        forward_(options.direction == Direction::kForward),
        latest_only_(options.latest_only),
        families_(options.families),
        stats_(options.stats) {}

  bool SeekToEdge() override { return EnterRow(forward_ ? rows_->First() : rows_->Last()); }
  bool SeekRow(std::string_view bound) override {
    if (forward_ && found_ != nullptr && found_->row_key() == bound) return EnterRow(found_);
    return EnterRow(forward_ ? rows_->FirstFrom(bound) : rows_->LastBefore(bound));
  }
  bool NextRow() override { return status_.ok() && row_ != nullptr && EnterRow(NextOf(row_)); }
  std::string_view row_key() const override { return row_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override {
    if (row_ == nullptr || column_ == nullptr) return row_ != nullptr;
    return node_ == nullptr && column_->next() == nullptr;
  }
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  bool ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) override;
  // Everything else that was returned is in the memtable's arena.
  void Unpin() override {
    folded_.reset();
    if (history_ != nullptr) history_->Unpin();
  }
  absl::Status status() const override { return status_; }

 private:
  const RowNode* NextOf(const RowNode* row) const {
    return forward_ ? row->next() : rows_->Previous(row);
  }
  bool EnterRow(const RowNode* row);
  void StartRow(const RowNode* row);
  void EnterFamily(uint32_t family);
  void EnterColumn(const ColumnNode* column);
  void LeaveColumn();
  void MoveToColumn(const ColumnPlace& place);
  bool JumpTowardsSkip();
  uint32_t SourceFamily(uint32_t family) const;

  void ReadCellKey(std::vector<Cell>* cells);
  void ReadVersion(std::vector<Cell>* cells);
  void ReadRanges(std::vector<Cell>* cells);
  void AppendCells(const CellNode& range, std::vector<Cell>* cells);
  void LeaveCellKey(const CellNode& read);
  void ReadDelta(std::vector<Cell>* cells);
  const CellNode* OlderDelta(const CellNode& delta);
  bool IsHidden(const CellNode& version);
  void MoveToCell(const CellPlace& place);
  Cell Current() const { return node_->AsCell(user_family_, column_->qualifier()); }

  void EnterHistory(uint32_t family, std::string_view qualifier);

  const RowList* const rows_;
  const RowNode* const found_;
  const uint64_t sequence_;
  const bool forward_;
  const bool latest_only_;
  const FamilyMap families_;
  CursorStats* const stats_;  // may be null

  const RowNode* row_ = nullptr;
  const ColumnNode* column_ = nullptr;  // null: the row has ended
  // The next cell of the column; all cells before it are resolved. Null: the column has ended.
  const CellNode* node_ = nullptr;
  // The tombstones known to apply at node_. A commit {0, 0} means no tombstone.
  CommitPoint row_deleted_;
  CommitPoint deleted_;            // the newer of the row's and the family's tombstones
  bool family_tombstone_ = false;  // there is a tombstone of this family, or of the row
  uint32_t family_ = kRowFamily;   // the source index that the two members above apply to
  uint32_t user_family_ = kRowFamily;
  bool ranges_met_ = false;  // a range tombstone of the column was reached
  ActiveRanges ranges_;      // of this column; valid if ranges_met_, like the next two
  // The least start of the range tombstones returned.
  std::optional<int64_t> covered_from_;
  std::optional<size_t> last_range_;  // index of the last one in the batch being read
  size_t batch_ = kFirstBatch;        // the maximum for the next ReadCells
  // Set by SkipTo until column_ has reached the target.
  bool skipping_ = false;
  uint32_t skip_family_ = kRowFamily;  // the source index
  std::string skip_qualifier_;
  Fold fold_;
  std::optional<Arena> folded_;  // values of returned deltas, until Unpin
  // With latest_only: a cursor that returns everything, for the column requested last.
  std::unique_ptr<MemtableCursor> history_;
  bool is_history_placed_ = false;  // in this row
  Cell history_column_;
  std::string history_qualifier_;
  bool was_newest_passed_ = false;  // history_ is past the version returned before
  bool has_history_ended_ = false;
  absl::Status status_;
};

bool MemtableCursor::EnterRow(const RowNode* row) {
  Unpin();
  if (!status_.ok()) return false;
  while (row != nullptr && row->first_sequence() > sequence_) row = NextOf(row);
  row_ = row;
  if (row == nullptr) return false;
  StartRow(row);
  return true;
}

void MemtableCursor::StartRow(const RowNode* row) {
  row_ = row;
  row_deleted_ = {};
  skipping_ = false;
  batch_ = kFirstBatch;
  is_history_placed_ = false;
  EnterFamily(kRowFamily);
  EnterColumn(row->columns().First());
}

void MemtableCursor::EnterFamily(uint32_t family) {
  family_ = family;
  user_family_ = family < families_.size() ? families_[family] : kSkippedFamily;
  deleted_ = row_deleted_;
  family_tombstone_ = row_deleted_ != CommitPoint{};
}

void MemtableCursor::EnterColumn(const ColumnNode* column) {
  column_ = column;
  node_ = column == nullptr ? nullptr : column->FirstCell();
  ranges_met_ = false;
}

bool MemtableCursor::ReadCells(std::vector<Cell>* cells) {
  if (row_ == nullptr || !status_.ok()) return false;
  last_range_.reset();
  const size_t count_before = cells->size();
  const size_t batch = std::exchange(batch_, std::min(4 * batch_, kCellBatch));
  while (column_ != nullptr && cells->size() - count_before < batch && status_.ok()) {
    if (node_ == nullptr) {
      LeaveColumn();
      continue;
    }
    if (skipping_ && JumpTowardsSkip()) continue;
    if (column_->family() != family_) EnterFamily(column_->family());
    if (family_ != kRowFamily && user_family_ == kSkippedFamily) {
      MoveToColumn(ColumnPlace::StartOf(family_ + 1));
    } else if (node_->sequence() > sequence_) {
      MoveToCell({node_->timestamp(), node_->kind(), {sequence_, UINT32_MAX}});
    } else {
      ReadCellKey(cells);
    }
  }
  if (!status_.ok()) cells->resize(count_before);
  return cells->size() > count_before;
}

// Moves to the next column. If a tombstone hides everything older in the rest of the row or of the
// family, moves to the next column that was changed since.
void MemtableCursor::LeaveColumn() {
  if (deleted_ == CommitPoint{}) {
    EnterColumn(column_->next());
    return;
  }
  const uint32_t end =
      deleted_ == row_deleted_ ? std::numeric_limits<uint32_t>::max() : column_->family() + 1;
  EnterColumn(SkipList<ColumnNode>::NextSince(
      deleted_.sequence, column_, [place = ColumnPlace::StartOf(end)](const ColumnNode& node) {
        return node.IsBefore(place);
      }));
}

// Reads one cell key. node_ is its newest node that the cursor sees.
void MemtableCursor::ReadCellKey(std::vector<Cell>* cells) {
  switch (node_->kind()) {
    case CellKind::kDeleteRow:
      row_deleted_ = node_->commit();
      cells->push_back(node_->AsCell(kRowFamily, {}));
      node_ = nullptr;
      break;
    case CellKind::kDeleteFamily:
      deleted_ = std::max(deleted_, node_->commit());
      if (!family_tombstone_) cells->push_back(Current());
      family_tombstone_ = true;
      node_ = nullptr;
      break;
    case CellKind::kDeleteRange: {
      const CellNode& newest = *node_;
      ReadRanges(cells);
      LeaveCellKey(newest);
      break;
    }
    default:
      ReadVersion(cells);
      break;
  }
}

void MemtableCursor::ReadVersion(std::vector<Cell>* cells) {
  const CellNode& newest = *node_;
  if (IsHidden(newest)) {
    LeaveCellKey(newest);
    return;
  }
  if (IsDelta(newest.kind())) {
    ReadDelta(cells);
  } else {
    cells->push_back(Current());
  }
  if (latest_only_ && !column_->HasRangesAt(sequence_)) {
    node_ = nullptr;
  } else {
    LeaveCellKey(newest);
  }
}

// Moves past the cell key that was read. If a tombstone hides everything older in the rest of the
// column, moves past all of that.
void MemtableCursor::LeaveCellKey(const CellNode& read) {
  CommitPoint hidden = deleted_;
  if (ranges_met_) hidden = std::max(hidden, ranges_.HidesTheRest());
  if (read.sequence() < hidden.sequence) {
    node_ =
        SkipList<CellNode>::NextSince(hidden.sequence, &read, [](const CellNode&) { return true; });
    return;
  }
  const CellPlace end{read.timestamp(), read.kind(), kOldestCommit};
  // There are many such nodes if cells are overwritten and deleted alternately.
  if (hidden != CommitPoint{})
    node_ = SkipList<CellNode>::NextSince(
        hidden.sequence, &read, [&](const CellNode& node) { return IsBefore(node, end); });
  MoveToCell(end);
}

// Folds the deltas of a cell key, from node_ down to the tombstone that hides the older ones.
void MemtableCursor::ReadDelta(std::vector<Cell>* cells) {
  Cell& cell = cells->emplace_back(Current());
  const CellNode* older = OlderDelta(*node_);
  if (older == nullptr) return;
  fold_.Start(cell.kind);
  STELE_CHECK(fold_.Add(cell.value));
  for (; older != nullptr; older = OlderDelta(*older)) STELE_CHECK(fold_.Add(older->delta_value()));
  const std::string_view value = fold_.Value();
  if (!folded_.has_value()) folded_.emplace();
  char* bytes = folded_->Allocate(value.size());
  if (bytes == nullptr) {
    status_ = ResourceExhausted(
        "no memory for an aggregate cell of {} bytes; lower memory_budget_bytes or free memory",
        value.size());
    return;
  }
  std::copy_n(value.data(), value.size(), bytes);
  cell.value = {bytes, value.size()};
}

// Returns the newest delta that is not part of `delta`'s node; null if it is hidden.
const CellNode* MemtableCursor::OlderDelta(const CellNode& delta) {
  const DeltaSpan span = delta.delta_span();
  const CellNode* oldest = span.since == delta.commit()
                               ? &delta
                               : column_->SeekCell({delta.timestamp(), delta.kind(), span.since});
  const CellNode* older = oldest->next();
  return older == nullptr || !older->IsSameCell(delta) || IsHidden(*older) ? nullptr : older;
}

// Reads the range tombstones with one newest timestamp. A tombstone of an older commit is needed,
// too, if it extends further down.
void MemtableCursor::ReadRanges(std::vector<Cell>* cells) {
  if (!ranges_met_) {
    ranges_.Clear();
    covered_from_.reset();
    ranges_met_ = true;
  }
  const CellNode& newest = *node_;
  const CellNode* widest = nullptr;
  for (; node_ != nullptr && node_->IsSameCell(newest) && node_->commit() > deleted_;
       node_ = node_->next()) {
    if (widest != nullptr && node_->range_start() >= widest->range_start()) continue;
    widest = node_;
    ranges_.Add(newest.timestamp(), node_->range_start(), node_->commit());
    if (node_->range_start() == 0) break;  // no lower timestamps exist
  }
  if (family_tombstone_ || widest == nullptr) return;
  AppendCells(*widest, cells);
}

// Appends a range tombstone, or extends the last one in `cells` if the two touch or overlap.
void MemtableCursor::AppendCells(const CellNode& range, std::vector<Cell>* cells) {
  const int64_t start = range.range_start();
  if (covered_from_.has_value() && *covered_from_ <= start) return;
  const bool touches = covered_from_.has_value() && *covered_from_ - 1 <= range.timestamp();
  covered_from_ = start;
  if (touches && last_range_.has_value()) {
    (*cells)[*last_range_].range_start = start;
    return;
  }
  last_range_ = cells->size();
  cells->push_back(range.AsCell(user_family_, column_->qualifier()));
}

bool MemtableCursor::IsHidden(const CellNode& version) {
  return version.commit() < deleted_ ||
         (ranges_met_ && version.commit() < ranges_.HiddenAt(version.timestamp()));
}

// Returns the first source index that maps to `family` or to a later one. It is the position of
// `family` in the source, because the mapping keeps the order of families.
uint32_t MemtableCursor::SourceFamily(uint32_t family) const {
  uint32_t source = 1;
  while (source < families_.size() && families_[source] < family) ++source;
  return source;
}

void MemtableCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  skip_family_ = SourceFamily(family);
  if (skip_family_ < families_.size() && families_[skip_family_] > family) qualifier = {};
  skip_qualifier_.assign(qualifier);
  skipping_ = true;
  batch_ = kFirstBatch;
}

// Moves towards the target of SkipTo. Stops at the tombstones of the row and of the target's
// family, which must be returned. Returns true if it moved.
bool MemtableCursor::JumpTowardsSkip() {
  const ColumnPlace target{skip_family_, false, skip_qualifier_};
  if (!column_->IsBefore(target)) {
    skipping_ = false;
    return false;
  }
  if (column_->family() == kRowFamily) return false;
  if (column_->family() < skip_family_) {
    MoveToColumn(ColumnPlace::StartOf(skip_family_));
    return true;
  }
  if (column_->is_family_tombstones()) return false;
  MoveToColumn(target);
  return true;
}

// Moves forward to the first column at or after `place`.
void MemtableCursor::MoveToColumn(const ColumnPlace& place) {
  const ColumnNode* column = column_;
  for (int walked = 0; column != nullptr && column->IsBefore(place); ++walked)
    column = walked < kWalkedNodes ? column->next() : row_->columns().Seek(place);
  EnterColumn(column);
}

// Moves node_ forward to the first cell of the column at or after `place`.
void MemtableCursor::MoveToCell(const CellPlace& place) {
  for (int walked = 0; node_ != nullptr && IsBefore(*node_, place); ++walked)
    node_ = walked < kWalkedNodes ? node_->next() : column_->SeekCell(place);
}

bool MemtableCursor::ReadHistory(uint32_t family, std::string_view qualifier,
                                 std::vector<Cell>* cells) {
  if (!latest_only_ || row_ == nullptr || !status_.ok()) return status_.ok();
  EnterHistory(family, qualifier);
  const size_t count_before = cells->size();
  std::vector<Cell> read;
  while (!has_history_ended_ && cells->size() == count_before) {
    read.clear();
    has_history_ended_ = !history_->ReadCells(&read);
    for (const Cell& cell : read) {
      const std::strong_ordering order = CompareColumn(cell, history_column_);
      if (order < 0) continue;  // the tombstone of the row or of a family
      has_history_ended_ = has_history_ended_ || order > 0;
      if (has_history_ended_) break;
      if (std::exchange(was_newest_passed_, true)) cells->push_back(cell);
    }
  }
  status_ = history_->status();
  return status_.ok();
}

void MemtableCursor::EnterHistory(uint32_t family, std::string_view qualifier) {
  if (is_history_placed_ && family == history_column_.family &&
      qualifier == history_column_.qualifier)
    return;
  if (history_ == nullptr)
    history_ = std::make_unique<MemtableCursor>(rows_, nullptr, sequence_,
                                                CursorOptions{.families = families_});
  if (stats_ != nullptr) ++stats_->history_reads;
  is_history_placed_ = true;
  history_qualifier_.assign(qualifier);
  history_column_ = {.family = family, .qualifier = history_qualifier_};
  was_newest_passed_ = false;
  const ColumnNode* column = row_->columns().Seek({SourceFamily(family), false, qualifier});
  has_history_ended_ = column == nullptr || column->HasRangesAt(sequence_);
  history_->StartRow(row_);
  history_->SkipTo(family, qualifier);
}

}  // namespace

std::unique_ptr<CellCursor> NewMemtableCursor(const RowList* rows, const RowNode* found,
                                              uint64_t sequence, const CursorOptions& options) {
  return std::make_unique<MemtableCursor>(rows, found, sequence, options);
}

}  // namespace stele::internal
