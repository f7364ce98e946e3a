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

// For about this many nodes walking is cheaper than a seek.
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
        families_(options.families) {}

  bool SeekToEdge() override { return EnterRow(forward_ ? rows_->First() : rows_->Last()); }
  bool SeekRow(std::string_view bound) override {
    if (forward_ && found_ != nullptr && found_->row_key() == bound) return EnterRow(found_);
    return EnterRow(forward_ ? rows_->FirstFrom(bound) : rows_->LastBefore(bound));
  }
  bool NextRow() override { return status_.ok() && row_ != nullptr && EnterRow(NextOf(row_)); }
  std::string_view row_key() const override { return row_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override;
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  // Everything else that was returned is in the memtable's arena.
  void Unpin() override { folded_.reset(); }
  absl::Status status() const override { return status_; }

 private:
  const RowNode* NextOf(const RowNode* row) const {
    return forward_ ? row->next() : rows_->Previous(row);
  }
  bool EnterRow(const RowNode* row);
  void EnterFamily(uint32_t family);
  void ReadCellKey(std::vector<Cell>* cells);
  void ReadRanges(const Cell& cell_key, std::vector<Cell>* cells);
  void HandOutRange(const CellNode& range, std::vector<Cell>* cells);
  void LeaveCellKey(const CellNode& read);
  void ReadDelta(std::vector<Cell>* cells);
  const CellNode* OlderDelta(const CellNode& delta);
  bool IsHidden(const CellNode& version);
  bool JumpTowardsSkip();
  void MoveTo(const CellPlace& place);

  const RowList* const rows_;
  const RowNode* const found_;
  const uint64_t sequence_;
  const bool forward_;
  const FamilyMap families_;

  const RowNode* row_ = nullptr;
  const CellNode* node_ = nullptr;  // the next node to look at; everything before it is resolved
  // The tombstones known to apply at node_. A commit {0, 0} means no tombstone.
  CommitPoint row_deleted_;
  CommitPoint deleted_;            // the newer of the row's and the family's tombstones
  bool family_tombstone_ = false;  // there is a tombstone of this family, or of the row
  uint32_t family_ = kRowFamily;   // the source index that the two members above apply to
  uint32_t user_family_ = kRowFamily;
  ActiveRanges ranges_;
  bool ranges_met_ = false;  // range tombstones were met in the column of ranges_column_
  Cell ranges_column_;
  // The least start of the range tombstones returned for that column.
  std::optional<int64_t> covered_from_;
  std::optional<size_t> last_range_;  // index of the last one in the batch being read
  size_t batch_ = kFirstBatch;        // the maximum for the next ReadCells
  // Set by SkipTo until node_ has reached the target.
  bool skipping_ = false;
  Cell skip_column_;
  std::string skip_qualifier_;
  Fold fold_;
  std::optional<Arena> folded_;  // values of returned deltas, until Unpin
  absl::Status status_;
};

bool MemtableCursor::EnterRow(const RowNode* row) {
  folded_.reset();
  if (!status_.ok()) return false;
  while (row != nullptr && row->first_sequence() > sequence_) row = NextOf(row);
  row_ = row;
  if (row == nullptr) return false;
  node_ = row->cells().First();
  row_deleted_ = {};
  skipping_ = false;
  batch_ = kFirstBatch;
  ranges_met_ = false;
  EnterFamily(kRowFamily);
  return true;
}

void MemtableCursor::EnterFamily(uint32_t family) {
  family_ = family;
  user_family_ = family < families_.size() ? families_[family] : kSkippedFamily;
  deleted_ = row_deleted_;
  family_tombstone_ = row_deleted_ != CommitPoint{};
}

bool MemtableCursor::ReadCells(std::vector<Cell>* cells) {
  if (row_ == nullptr || !status_.ok()) return false;
  last_range_.reset();
  const size_t count_before = cells->size();
  const size_t batch = std::exchange(batch_, std::min(4 * batch_, kCellBatch));
  while (node_ != nullptr && cells->size() - count_before < batch && status_.ok()) {
    if (skipping_ && JumpTowardsSkip()) continue;
    if (node_->family() != family_) EnterFamily(node_->family());
    if (family_ != kRowFamily && user_family_ == kSkippedFamily) {
      MoveTo({{.family = family_ + 1, .kind = CellKind::kDeleteFamily}, kNewestCommit});
    } else if (node_->sequence() > sequence_) {
      MoveTo({node_->cell_key(), {sequence_, UINT32_MAX}});
    } else {
      ReadCellKey(cells);
    }
  }
  if (!status_.ok()) cells->resize(count_before);
  return cells->size() > count_before;
}

// node_ is the newest node of its cell key that the cursor sees.
void MemtableCursor::ReadCellKey(std::vector<Cell>* cells) {
  const CellNode& newest = *node_;
  switch (node_->kind()) {
    case CellKind::kDeleteRow:
      row_deleted_ = node_->commit();
      cells->push_back(node_->AsCell(kRowFamily));
      break;
    case CellKind::kDeleteFamily:
      deleted_ = std::max(deleted_, node_->commit());
      if (!family_tombstone_) cells->push_back(node_->AsCell(user_family_));
      family_tombstone_ = true;
      break;
    case CellKind::kDeleteRange:
      ReadRanges(newest.cell_key(), cells);
      break;
    case CellKind::kSet:
      if (!IsHidden(*node_)) cells->push_back(node_->AsCell(user_family_));
      break;
    case CellKind::kSum:
    case CellKind::kMin:
    case CellKind::kMax:
    case CellKind::kHll:
      ReadDelta(cells);
      break;
  }
  LeaveCellKey(newest);
}

// Moves past the cell key that was read. If a tombstone hides it and everything older in the rest
// of the row, the family or the column, moves past all of that.
void MemtableCursor::LeaveCellKey(const CellNode& read) {
  const uint64_t sequence = read.sequence();
  const bool is_in_ranges = ranges_met_ && CompareColumn(ranges_column_, read.cell_key()) == 0;
  const CommitPoint column_deleted = is_in_ranges ? ranges_.HidesTheRest() : CommitPoint{};
  if (sequence < row_deleted_.sequence) {
    node_ = CellList::NextSince(row_deleted_.sequence, &read,
                                {{.family = std::numeric_limits<uint32_t>::max()}, kNewestCommit});
  } else if (sequence < deleted_.sequence) {
    const CellPlace next_family{{.family = read.family() + 1, .kind = CellKind::kDeleteFamily},
                                kNewestCommit};
    node_ = CellList::NextSince(deleted_.sequence, &read, next_family);
  } else if (sequence < column_deleted.sequence) {
    const CellPlace column_end{
        {.family = read.family(), .timestamp = -1, .qualifier = read.qualifier()}, kNewestCommit};
    node_ = CellList::NextSince(column_deleted.sequence, &read, column_end);
  } else {
    // Cells that are overwritten and deleted alternately have many such nodes.
    if (column_deleted != CommitPoint{})
      node_ = CellList::NextSince(column_deleted.sequence, &read, {read.cell_key(), kOldestCommit});
    MoveTo({read.cell_key(), kOldestCommit});
  }
}

// Folds the deltas of a cell key, from node_ down to the tombstone that hides the older ones.
void MemtableCursor::ReadDelta(std::vector<Cell>* cells) {
  if (IsHidden(*node_)) return;
  Cell& cell = cells->emplace_back(node_->AsCell(user_family_));
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
  const CellNode* oldest =
      span.since == delta.commit() ? &delta : row_->cells().Seek({delta.cell_key(), span.since});
  const CellNode* older = oldest->next();
  if (older == nullptr || CompareCells(older->cell_key(), delta.cell_key()) != 0 ||
      IsHidden(*older))
    return nullptr;
  return older;
}

// Reads range tombstones with the same newest timestamp. An older one matters, too, if it extends
// further down.
void MemtableCursor::ReadRanges(const Cell& cell_key, std::vector<Cell>* cells) {
  if (!ranges_met_ || CompareColumn(ranges_column_, cell_key) != 0) {
    ranges_.Clear();
    ranges_column_ = cell_key;
    covered_from_.reset();
    ranges_met_ = true;
  }
  const CellNode* widest = nullptr;
  for (; node_ != nullptr && CompareCells(node_->cell_key(), cell_key) == 0 &&
         node_->commit() > deleted_;
       node_ = node_->next()) {
    if (widest != nullptr && node_->range_start() >= widest->range_start()) continue;
    widest = node_;
    ranges_.Add(cell_key.timestamp, node_->range_start(), node_->commit());
    if (node_->range_start() == 0) break;  // no lower timestamps exist
  }
  if (family_tombstone_ || widest == nullptr) return;
  HandOutRange(*widest, cells);
}

// If ranges touch or overlap, the one still in `cells` is extended instead of adding another.
void MemtableCursor::HandOutRange(const CellNode& range, std::vector<Cell>* cells) {
  const int64_t start = range.range_start();
  if (covered_from_.has_value() && *covered_from_ <= start) return;
  const bool touches = covered_from_.has_value() && *covered_from_ - 1 <= range.timestamp();
  covered_from_ = start;
  if (touches && last_range_.has_value()) {
    (*cells)[*last_range_].range_start = start;
    return;
  }
  last_range_ = cells->size();
  cells->push_back(range.AsCell(user_family_));
}

bool MemtableCursor::IsHidden(const CellNode& version) {
  if (version.commit() < deleted_) return true;
  if (!ranges_met_) return false;
  if (CompareColumn(ranges_column_, version.cell_key()) != 0) {
    ranges_met_ = false;
    return false;
  }
  return version.commit() < ranges_.HiddenAt(version.timestamp());
}

void MemtableCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  // Indexes keep their order from source to user. So the first source index that maps to `family`
  // or later is where it begins or would begin.
  uint32_t source = 1;
  while (source < families_.size() && families_[source] < family) ++source;
  if (source < families_.size() && families_[source] > family) qualifier = {};
  skip_qualifier_.assign(qualifier);
  skip_column_ = {.family = source,
                  .kind = CellKind::kDeleteRange,
                  .timestamp = std::numeric_limits<int64_t>::max()};
  skip_column_.qualifier = skip_qualifier_;
  skipping_ = true;
  batch_ = kFirstBatch;
}

// Stops at the tombstones of the row and of the family skipped to: they are returned, and they hide
// cells. Returns true if node_ moved.
bool MemtableCursor::JumpTowardsSkip() {
  const CellPlace place{skip_column_, kNewestCommit};
  if (!IsBefore(*node_, place)) {
    skipping_ = false;
    return false;
  }
  if (node_->family() == kRowFamily) return false;
  if (node_->family() < skip_column_.family) {
    MoveTo({{.family = skip_column_.family, .kind = CellKind::kDeleteFamily}, kNewestCommit});
    return true;
  }
  if (node_->kind() == CellKind::kDeleteFamily) return false;
  MoveTo(place);
  return true;
}

// Moves node_ forward to the first node at or after `place`.
void MemtableCursor::MoveTo(const CellPlace& place) {
  for (int walked = 0; walked < kWalkedNodes; ++walked) {
    if (node_ == nullptr || !IsBefore(*node_, place)) return;
    node_ = node_->next();
  }
  if (node_ != nullptr) node_ = row_->cells().Seek(place);
}

}  // namespace

std::unique_ptr<CellCursor> NewMemtableCursor(const RowList* rows, const RowNode* found,
                                              uint64_t sequence, const CursorOptions& options) {
  return std::make_unique<MemtableCursor>(rows, found, sequence, options);
}

}  // namespace stele::internal
