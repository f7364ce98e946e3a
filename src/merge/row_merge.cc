#include "merge/row_merge.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cell/held_cells.h"

namespace stele::internal {
namespace {

// A range tombstone that extends to the lowest timestamp covers the rest of a column. After this
// many hidden versions, the source skips the rest.
constexpr uint32_t kHiddenBeforeSkip = 8;

// Merging a whole row compares each cell with one of every source. For rows of more sources or
// cells the order of the sources is worth its cost; guesses.
constexpr size_t kWholeRowSourcesMax = 4;
constexpr size_t kWholeRowCellsMax = 64;

bool EndsBatch(const std::vector<Cell>& cells, size_t begin) {
  return cells.size() > begin && cells.back().value.size() >= kBatchEndingBytes;
}

bool IsPlain(const Cell& cell) {
  return cell.kind == CellKind::kSet && cell.value.size() < kBatchEndingBytes && !cell.is_lazy;
}

}  // namespace

void RowMerge::StartRow(const SoleColumn& sole_column, size_t source_count) {
  sole_column_ = &sole_column;
  sources_.reserve(source_count);
  order_.reserve(source_count);
  group_.reserve(source_count);
  source_count_ = 0;
  started_ = false;
  skip_before_start_.family = 0;
  order_.clear();
  group_.clear();
  column_is_open_ = false;
  row_is_deleted_ = false;
  deleted_family_ = kRowFamily;
  folded_.reset();
  status_ = absl::OkStatus();
}

void RowMerge::AddSource(CellCursor* cursor, int64_t older_greatest) {
  if (source_count_ == sources_.size()) sources_.emplace_back();
  Source& source = sources_[source_count_++];
  source.cursor = cursor;
  source.older_greatest = older_greatest;
  source.cells.clear();
  source.next = 0;
  source.ended = false;
  source.is_unpin_due = false;
  source.batch_count = 0;
  if (source.held.size() > 0) source.held = Buffer();
  source.skip.family = 0;
}

bool RowMerge::ReadCells(std::vector<Cell>* cells) {
  const size_t begin = cells->size();
  const size_t limit = begin + kCellBatch;
  if (!started_) {
    ReadFirstBatches(cells);
    if (status_.ok() && HasWholePlainRow()) MergeWholeRow(cells);
  }
  while (cells->size() < limit && !EndsBatch(*cells, begin) && RefillGroup(cells->size() > begin)) {
    if (column_is_open_) {
      MergeColumn(cells, begin);
      continue;
    }
    ReturnGroup();
    if (order_.empty()) break;
    if (sources_[order_.front()].current().kind == CellKind::kDeleteFamily) {
      MergeFamilyTombstone(cells);
      continue;
    }
    OpenGroup();
    if (!column_is_open_) CopyRun(cells, limit);
  }
  if (!status_.ok()) cells->resize(begin);
  return cells->size() > begin;
}

// Reads sources newest first, up to one with a row tombstone or one that completes the only
// requested column. Older sources are not read.
void RowMerge::ReadFirstBatches(std::vector<Cell>* cells) {
  started_ = true;
  SoleColumnProgress sole_column;
  for (uint32_t i = 0; i < source_count_; ++i) {
    Source& source = sources_[i];
    if (skip_before_start_.family != 0)
      SkipSource(source, skip_before_start_.family, skip_before_start_.qualifier);
    if (!Refill(source)) {
      if (!status_.ok()) return;
      continue;
    }
    group_.push_back(i);
    if (sole_column.IsDecidedBy(*sole_column_, source.cells_left(), source.older_greatest))
      source_count_ = i + 1;
    if (source.current().kind != CellKind::kDeleteRow) continue;
    cells->push_back(source.current());
    ++source.next;
    DropSkipped(source);
    row_is_deleted_ = true;
    source_count_ = i + 1;
  }
}

// True if the buffered cells are all of the row, are few, and are versions with small values. Call
// after ReadFirstBatches.
bool RowMerge::HasWholePlainRow() const {
  if (row_is_deleted_ || group_.size() > kWholeRowSourcesMax) return false;
  size_t cell_count = 0;
  for (const uint32_t index : group_) {
    const Source& source = sources_[index];
    if (!source.cursor->IsRowDone()) return false;
    const std::span<const Cell> cells = source.cells_left();
    cell_count += cells.size();
    if (cell_count > kWholeRowCellsMax) return false;
    if (!std::all_of(cells.begin(), cells.end(), IsPlain)) return false;
  }
  return true;
}

// Appends the buffered cells in order, and of each cell key the newest source's.
void RowMerge::MergeWholeRow(std::vector<Cell>* cells) {
  while (group_.size() > 1) {
    Source* least = &sources_[group_.front()];
    bool is_any_drained = false;
    for (size_t i = 1; i < group_.size(); ++i) {
      Source& source = sources_[group_[i]];
      const std::strong_ordering order = CompareCells(source.current(), least->current());
      if (order < 0) {
        least = &source;
      } else if (order == 0) {
        ++source.next;
        is_any_drained |= source.drained();
      }
    }
    cells->push_back(least->current());
    ++least->next;
    if (is_any_drained || least->drained())
      std::erase_if(group_, [this](uint32_t index) { return sources_[index].drained(); });
  }
  if (group_.empty()) return;
  Source& last = sources_[group_.front()];
  const std::span<const Cell> left = last.cells_left();
  cells->insert(cells->end(), left.begin(), left.end());
  last.next = last.cells.size();
  group_.clear();
}

// Reads the source's next cells that are not skipped. Returns false if it has no more cells of this
// row, or failed.
bool RowMerge::Refill(Source& source) {
  do {
    source.cells.clear();
    source.next = 0;
    if (!source.cursor->ReadCells(&source.cells)) {
      status_ = source.cursor->status();
      source.ended = true;
      return false;
    }
    ++source.batch_count;
    DropSkipped(source);
  } while (source.drained());
  return true;
}

// Gives every source of the group a current cell, or removes it at its end. Returns false if the
// caller must stop, because of a failure or because a source must be unpinned before it is read
// further.
bool RowMerge::RefillGroup(bool has_output) {
  if (!status_.ok()) return false;
  size_t kept = 0;
  for (size_t i = 0; i < group_.size(); ++i) {
    const uint32_t index = group_[i];
    Source& source = sources_[index];
    if (source.drained() && !source.ended) {
      if (source.is_unpin_due && has_output) {
        group_.erase(group_.begin() + static_cast<ptrdiff_t>(kept),
                     group_.begin() + static_cast<ptrdiff_t>(i));
        return false;
      }
      const bool has_cells = Refill(source);
      if (!status_.ok()) return false;
      source.in_column = has_cells && column_is_open_ && IsCurrentColumn(source.current());
    }
    // In an open column a source's range tombstones still apply after its last cell.
    if (!source.ended || column_is_open_) group_[kept++] = index;
  }
  group_.resize(kept);
  return true;
}

bool RowMerge::LiesBefore(const Cell& cell, const SkipTarget& target) {
  if (cell.kind == CellKind::kDeleteRow) return false;
  if (cell.family != target.family) return cell.family < target.family;
  return cell.kind != CellKind::kDeleteFamily && cell.qualifier < target.qualifier;
}

// Drops buffered cells that are before the skip target. Stops at the tombstone of the target's
// family; the code that consumes the tombstone calls this again.
void RowMerge::DropSkipped(Source& source) {
  if (source.skip.family == 0) return;
  while (!source.drained() && LiesBefore(source.current(), source.skip)) ++source.next;
}

void RowMerge::SkipSource(Source& source, uint32_t family, std::string_view qualifier) {
  SkipTarget& target = source.skip;
  if (family < target.family || (family == target.family && qualifier <= target.qualifier)) return;
  target.family = family;
  target.qualifier.assign(qualifier);
  if (!source.ended) source.cursor->SkipTo(family, qualifier);
  DropSkipped(source);
}

void RowMerge::SkipTo(uint32_t family, std::string_view qualifier) {
  if (!started_) {
    if (std::pair(family, qualifier) >
        std::pair(skip_before_start_.family, std::string_view(skip_before_start_.qualifier))) {
      skip_before_start_.family = family;
      skip_before_start_.qualifier.assign(qualifier);
    }
    return;
  }
  if (column_is_open_ &&
      std::pair(family, qualifier) <= std::pair(column_.family, column_.qualifier))
    return;
  column_is_open_ = false;
  group_.insert(group_.end(), order_.begin(), order_.end());
  order_.clear();
  for (const uint32_t index : group_) SkipSource(sources_[index], family, qualifier);
}

void RowMerge::Unpin() {
  folded_.reset();
  if (column_is_open_ && column_.qualifier.data() != column_qualifier_.data()) {
    column_qualifier_.assign(column_.qualifier);
    column_.qualifier = column_qualifier_;
  }
  for (size_t i = 0; i < source_count_; ++i) UnpinSource(sources_[i]);
}

// Unpins the source's cursor, after copying its buffered cells if it has read many batches. If
// memory for the copy is refused, keeps the pins for now; that is not an error.
void RowMerge::UnpinSource(Source& source) {
  const bool has_history = column_is_open_ && source.has_history();
  if (source.drained() && !has_history) {
    source.held = Buffer();
  } else {
    if (source.batch_count == 0) return;  // the leftover cells were copied
    source.is_unpin_due = true;
    if (has_history || source.batch_count <= kBatchesBeforeHold) return;
    absl::StatusOr<Buffer> held = CopyOut(std::span(source.cells).subspan(source.next));
    if (!held.ok()) return;
    source.held = *std::move(held);
  }
  source.is_unpin_due = false;
  source.cursor->Unpin();
  source.batch_count = 0;
}

bool RowMerge::OrderedBefore(uint32_t a, uint32_t b) const {
  const auto by_column = CompareColumn(sources_[a].current(), sources_[b].current());
  return by_column != 0 ? by_column < 0 : a < b;
}

void RowMerge::ReturnGroup() {
  for (const uint32_t index : group_) {
    if (sources_[index].drained()) continue;  // at its end
    auto place = order_.begin();
    if (!order_.empty() && !OrderedBefore(index, order_.front())) {
      place = std::upper_bound(order_.begin() + 1, order_.end(), index,
                               [this](uint32_t a, uint32_t b) { return OrderedBefore(a, b); });
    }
    order_.insert(place, index);
  }
  group_.clear();
}

// Removes the sources with the least column from the order. If there are several, they open that
// column.
void RowMerge::OpenGroup() {
  const Cell& first = sources_[order_.front()].current();
  size_t count = 1;
  while (count < order_.size() && CompareColumn(sources_[order_[count]].current(), first) == 0)
    ++count;
  group_.assign(order_.begin(), order_.begin() + static_cast<ptrdiff_t>(count));
  order_.erase(order_.begin(), order_.begin() + static_cast<ptrdiff_t>(count));
  if (count == 1) return;
  column_is_open_ = true;
  column_ = first;
  has_version_ = false;
  output_active_ = {};
  for (const uint32_t index : group_) {
    Source& source = sources_[index];
    source.in_column = true;
    source.hidden_count = 0;
    source.wants_history = false;
    source.history.clear();
    source.history_next = 0;
    source.active = {};
  }
}

// The first source of the order has a family tombstone. It is the newest such source, since equal
// cells are ordered newest first. Older sources skip the family and its tombstones.
void RowMerge::MergeFamilyTombstone(std::vector<Cell>* cells) {
  const uint32_t deleting = order_.front();
  Source& source = sources_[deleting];
  const uint32_t family = source.current().family;
  if (!IsCovered(source.current())) cells->push_back(source.current());
  deleted_family_ = family;
  ++source.next;
  DropSkipped(source);
  const auto newer_end = std::stable_partition(order_.begin(), order_.end(),
                                               [=](uint32_t index) { return index < deleting; });
  group_.assign(newer_end, order_.end());
  order_.erase(newer_end, order_.end());
  for (const uint32_t index : group_) {
    if (index > deleting) SkipSource(sources_[index], family + 1, {});
  }
}

// Only one source has the columns before the second source's column, so no other source can hide
// them.
void RowMerge::CopyRun(std::vector<Cell>* cells, size_t limit) {
  Source& source = sources_[group_.front()];
  auto next = source.cells.begin() + static_cast<ptrdiff_t>(source.next);
  auto end = next + static_cast<ptrdiff_t>(
                        std::min(source.cells.size() - source.next, limit - cells->size()));
  if (!order_.empty()) {
    const Cell& runner_up = sources_[order_.front()].current();
    const auto is_before = [&](const Cell& cell) { return CompareColumn(cell, runner_up) < 0; };
    if (!is_before(*(end - 1))) end = std::partition_point(next + 1, end, is_before);
  }
  while (next != end && next->kind != CellKind::kDeleteFamily) {
    const auto set_end =
        std::find_if(next, end, [](const Cell& cell) { return cell.is_tombstone(); });
    cells->insert(cells->end(), next, set_end);
    for (next = set_end;
         next != end && next->is_tombstone() && next->kind != CellKind::kDeleteFamily; ++next) {
      if (!IsCovered(*next)) cells->push_back(*next);
    }
  }
  source.next = static_cast<size_t>(next - source.cells.begin());
}

// Continues with the open column until it ends, the batch is full, or a source has no more buffered
// cells.
void RowMerge::MergeColumn(std::vector<Cell>* cells, size_t begin) {
  while (cells->size() < begin + kCellBatch && !EndsBatch(*cells, begin)) {
    const Cell* next = NextInColumn();
    if (next == nullptr) {
      column_is_open_ = false;
      return;
    }
    const int64_t timestamp = next->timestamp;
    const CellKind kind = next->kind;
    if (kind == CellKind::kDeleteRange) {
      MergeRangeTombstones(timestamp, cells);
    } else {
      MergeVersion(timestamp, cells);
      if (!status_.ok()) return;
    }
    if (!AdvanceInColumn(timestamp, kind)) return;
  }
}

// Returns the newest source's cell among those that are first in order.
const Cell* RowMerge::NextInColumn() const {
  const Cell* least = nullptr;
  for (const uint32_t index : group_) {
    const Source& source = sources_[index];
    if (source.has_history() &&
        (least == nullptr || source.history[source.history_next].timestamp > least->timestamp)) {
      least = &source.history[source.history_next];
    }
    if (!source.in_column) continue;
    const Cell& cell = source.current();
    if (least == nullptr || cell.timestamp > least->timestamp ||
        (cell.timestamp == least->timestamp && cell.kind < least->kind)) {
      least = &cell;
    }
  }
  return least;
}

// Appends the newest version with this timestamp, or its folded deltas, unless an active range
// tombstone of a newer source covers it. Such a tombstone covers the older ones, too.
void RowMerge::MergeVersion(int64_t timestamp, std::vector<Cell>* cells) {
  ActiveRange newer;
  std::optional<Cell> merged;
  const auto add = [&](const Cell& version) {
    if (!merged.has_value()) {
      merged = version;
      delta_count_ = 1;
    } else if (merged->is_delta()) {
      AddDelta(version, &*merged);
    }
  };
  for (const uint32_t index : group_) {
    Source& source = sources_[index];
    const bool is_covered = newer.Covers(timestamp);
    if (!is_covered && source.has_history() &&
        source.history[source.history_next].timestamp == timestamp) {
      add(source.history[source.history_next]);
    }
    if (source.in_column && source.current().timestamp == timestamp &&
        !source.current().is_tombstone()) {
      if (is_covered) {
        Hide(source, newer);
      } else {
        add(source.current());
      }
    }
    newer.Add(source.active);
  }
  if (!merged.has_value()) return;
  if (delta_count_ > 1) FinishDelta(&*merged);
  cells->push_back(*merged);
  EndHistory();
}

// The newest version of the column was returned. Versions that sources left out are older, so a
// latest-only read does not need them.
void RowMerge::EndHistory() {
  has_version_ = true;
  for (const uint32_t index : group_) {
    Source& source = sources_[index];
    source.wants_history = false;
    source.history.clear();
    source.history_next = 0;
  }
}

// Called for a source whose current version is hidden by a range tombstone of a newer source. A
// tombstone that starts at 0 also hides all older versions, since no timestamp is negative. So the
// source may skip to the next column.
void RowMerge::Hide(Source& source, const ActiveRange& newer) {
  if (newer.start <= 0) ++source.hidden_count;
  source.wants_history |= newer.start > 0 && !has_version_;
}

void RowMerge::AddDelta(const Cell& delta, Cell* sum) {
  bool is_value = delta.kind == sum->kind;
  if (++delta_count_ == 2) {
    fold_.Start(sum->kind);
    is_value = is_value && fold_.Add(sum->value);
  }
  if (is_value && fold_.Add(delta.value)) return;
  status_ =
      MakeStatus(absl::StatusCode::kDataLoss,
                 fmt::format("column \"{}\" of family index {}: an aggregate cell that is none",
                             Printable(sum->qualifier), sum->family));
}

void RowMerge::FinishDelta(Cell* sum) {
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
  sum->value = {bytes, value.size()};
}

// Range tombstones with the same newest timestamp become one, the widest. Each still hides only
// cells older than its own source.
void RowMerge::MergeRangeTombstones(int64_t timestamp, std::vector<Cell>* cells) {
  const Cell* widest = nullptr;
  for (const uint32_t index : group_) {
    Source& source = sources_[index];
    if (!source.in_column) continue;
    const Cell& cell = source.current();
    if (cell.timestamp != timestamp || cell.kind != CellKind::kDeleteRange) continue;
    source.active.Add(cell.range_start);
    if (widest == nullptr || cell.range_start < widest->range_start) widest = &cell;
  }
  if (widest == nullptr || IsCovered(*widest) || output_active_.Covers(widest->range_start)) return;
  output_active_.Add(widest->range_start);
  cells->push_back(*widest);
}

// Moves past all cells of this cell key. Returns false if a source has no more buffered cells.
bool RowMerge::AdvanceInColumn(int64_t timestamp, CellKind kind) {
  bool none_drained = true;
  for (const uint32_t index : group_) {
    Source& source = sources_[index];
    if (source.wants_history && !IsTombstone(kind) && !AdvanceHistory(source, timestamp))
      return false;
    if (!source.in_column || source.current().timestamp != timestamp ||
        source.current().kind != kind)
      continue;
    ++source.next;
    if (source.hidden_count > kHiddenBeforeSkip) {
      source.hidden_count = 0;
      SkipSource(source, column_.family, std::string(column_.qualifier) + '\0');
    }
    source.in_column = !source.drained() && IsCurrentColumn(source.current());
    none_drained &= !source.drained();
  }
  return none_drained;
}

// Moves past the version of this timestamp in the history, and reads the next part of it if
// necessary. Returns false on failure.
bool RowMerge::AdvanceHistory(Source& source, int64_t timestamp) {
  if (source.has_history() && source.history[source.history_next].timestamp == timestamp)
    ++source.history_next;
  if (source.has_history()) return true;
  source.history.clear();
  source.history_next = 0;
  if (!source.cursor->ReadHistory(column_.family, column_.qualifier, &source.history)) {
    status_ = source.cursor->status();
    return false;
  }
  source.wants_history = source.has_history();
  return true;
}

}  // namespace stele::internal
