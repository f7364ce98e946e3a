#include "merge/retention_cursor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stele::internal {
namespace {

// After this many garbage versions in a row, the source skips the rest of the column.
constexpr uint32_t kGarbageBeforeSkip = 8;
// After this many batches without a kept cell, ReadCells returns without cells, so that the caller
// can unpin.
constexpr uint32_t kBatchesBeforeNone = 16;

class RetentionCursor final : public CellCursor {
 public:
  RetentionCursor(std::unique_ptr<CellCursor> input, RetentionPolicy policy, RetentionStats* stats)
      : input_(std::move(input)), policy_(std::move(policy)), stats_(stats) {}

  bool SeekToEdge() override { return status_.ok() && StartRow(input_->SeekToEdge()); }
  bool SeekRow(std::string_view bound) override {
    return status_.ok() && StartRow(input_->SeekRow(bound));
  }
  bool NextRow() override { return status_.ok() && StartRow(input_->NextRow()); }
  std::string_view row_key() const override { return input_->row_key(); }

  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override { return input_->IsRowDone(); }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    counter_.ForgetGarbage();
    input_->SkipTo(family, qualifier);
  }
  void Unpin() override;
  absl::Status status() const override { return status_.ok() ? input_->status() : status_; }

 private:
  bool StartRow(bool found) {
    counter_.StartRow();
    has_returned_cells_ = false;
    is_row_kept_ = found && !policy_.kept_sources.empty() && KeepsSource(input_->OnlySource());
    return found;
  }
  bool KeepsSource(size_t source) const {
    return source < policy_.kept_sources.size() && policy_.kept_sources[source];
  }
  bool ReadKeptCells(std::vector<Cell>* cells);
  bool Filter(std::vector<Cell>* cells, size_t begin);
  bool ReadLazyValue(std::vector<Cell>* cells, size_t begin);
  bool Keeps(const Cell& cell);
  void SkipGarbage();

  const std::unique_ptr<CellCursor> input_;
  const RetentionPolicy policy_;
  RetentionStats* const stats_;
  VersionCounter counter_{policy_};
  bool is_row_kept_ = false;  // nothing of the current row is removed
  bool has_returned_cells_ =
      false;             // cells were returned since the row's start or the last Unpin()
  absl::Status status_;  // of reading lazy values
};

bool RetentionCursor::ReadCells(std::vector<Cell>* cells) {
  if (is_row_kept_) return ReadKeptCells(cells);
  const size_t begin = cells->size();
  for (uint32_t batches = 1; status_.ok() && input_->ReadCells(cells); ++batches) {
    const bool has_lazy_values = Filter(cells, begin);
    SkipGarbage();
    if (cells->size() > begin) {
      has_returned_cells_ = true;
      return !has_lazy_values || !policy_.reads_lazy_values || ReadLazyValue(cells, begin);
    }
    // A very large row of garbage cells must not be pinned as a whole.
    if (!has_returned_cells_) {
      Unpin();
    } else if (batches == kBatchesBeforeNone) {
      return true;
    }
  }
  return false;
}

bool RetentionCursor::ReadKeptCells(std::vector<Cell>* cells) {
  const size_t begin = cells->size();
  if (!status_.ok() || !input_->ReadCells(cells)) return false;
  const auto first = cells->begin() + static_cast<ptrdiff_t>(begin);
  const bool has_lazy_values =
      std::any_of(first, cells->end(), [](const Cell& cell) { return cell.is_lazy; });
  return !has_lazy_values || !policy_.reads_lazy_values || ReadLazyValue(cells, begin);
}

// Returns true if a kept cell has a lazy value.
bool RetentionCursor::Filter(std::vector<Cell>* cells, size_t begin) {
  bool has_lazy_values = false;
  Cell* kept = cells->data() + begin;
  const Cell* const end = cells->data() + cells->size();
  for (const Cell* cell = kept; cell != end; ++cell) {
    if (!Keeps(*cell)) continue;
    has_lazy_values |= cell->is_lazy;
    if (kept != cell) *kept = *cell;
    ++kept;
  }
  if (kept != end) cells->resize(static_cast<size_t>(kept - cells->data()));
  return has_lazy_values;
}

bool RetentionCursor::ReadLazyValue(std::vector<Cell>* cells, size_t begin) {
  for (size_t i = begin; i < cells->size() && status_.ok(); ++i) {
    if ((*cells)[i].is_lazy) status_ = (*cells)[i].ReadLazyValue();
  }
  if (!status_.ok()) cells->resize(begin);
  return status_.ok();
}

bool RetentionCursor::Keeps(const Cell& cell) {
  if (cell.is_tombstone()) {
    if (!policy_.drop_tombstones) return true;
    if (stats_ != nullptr) ++stats_->tombstones_dropped;
    return false;
  }
  if (!counter_.IsGarbage(cell)) return true;
  if (stats_ != nullptr) ++stats_->garbage_cells;
  return false;
}

// Skips the rest of a column after many garbage versions. Only if tombstones are dropped: otherwise
// range tombstones further down the column must be returned. Skipped cells are not counted.
void RetentionCursor::SkipGarbage() {
  if (counter_.garbage_count() <= kGarbageBeforeSkip || !policy_.drop_tombstones) return;
  counter_.ForgetGarbage();
  input_->SkipTo(counter_.family(), std::string(counter_.qualifier()) + '\0');
}

void RetentionCursor::Unpin() {
  counter_.Unpin();
  has_returned_cells_ = false;
  input_->Unpin();
}

}  // namespace

std::unique_ptr<CellCursor> NewRetentionCursor(std::unique_ptr<CellCursor> input,
                                               RetentionPolicy policy, RetentionStats* stats) {
  const bool keeps_all_versions =
      std::all_of(policy.rules.begin(), policy.rules.end(),
                  [](const Retention& rule) { return rule.KeepsEverything(); });
  if (keeps_all_versions && !policy.drop_tombstones && !policy.reads_lazy_values) return input;
  return std::make_unique<RetentionCursor>(std::move(input), std::move(policy), stats);
}

}  // namespace stele::internal
