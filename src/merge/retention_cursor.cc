#include "merge/retention_cursor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stele::internal {
namespace {

// So many condemned versions in a row, and the rest of the column is skipped at the source.
constexpr uint32_t kCondemnedBeforeSkip = 8;
// So many batches of which nothing is kept, and the user is given the occasion to let go of what it pins.
constexpr uint32_t kBatchesBeforeNone = 16;

class RetentionCursor final : public CellCursor {
 public:
  RetentionCursor(std::unique_ptr<CellCursor> input, RetentionPolicy policy, RetentionStats* stats)
      : input_(std::move(input)), policy_(std::move(policy)), stats_(stats) {}

  bool SeekToEdge() override { return status_.ok() && StartRow(input_->SeekToEdge()); }
  bool SeekRow(std::string_view bound) override { return status_.ok() && StartRow(input_->SeekRow(bound)); }
  bool NextRow() override { return status_.ok() && StartRow(input_->NextRow()); }
  std::string_view row_key() const override { return input_->row_key(); }

  bool ReadCells(std::vector<Cell>* cells) override;
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    condemned_count_ = 0;
    input_->SkipTo(family, qualifier);
  }
  void Unpin() override;
  absl::Status status() const override { return status_.ok() ? input_->status() : status_; }

 private:
  bool StartRow(bool found) {
    column_ = Cell{};  // the qualifier too: its bytes went with the row before
    rule_ = nullptr;
    condemned_count_ = 0;
    handed_out_ = false;
    return found;
  }
  void Filter(std::vector<Cell>* cells, size_t begin);
  bool ReadDeferred(std::vector<Cell>* cells, size_t begin);
  void StartFamily(uint32_t family);
  bool Keeps(const Cell& cell);
  bool Condemned(const Cell& cell) const;
  void SkipCondemned();

  const std::unique_ptr<CellCursor> input_;
  const RetentionPolicy policy_;
  RetentionStats* const stats_;
  // Of the column of the last cell met in a family whose rule condemns anything.
  const Retention* rule_ = nullptr;  // null: the family keeps everything
  bool is_rank_known_ = true;        // of that family; partial policies
  Cell column_;                      // the qualifier's bytes are pinned, or in column_qualifier_
  std::string column_qualifier_;
  uint64_t rank_ = 0;
  uint32_t condemned_count_ = 0;  // since the last skip; while it is not 0 the rest of the column is known to be condemned
  bool handed_out_ = false;       // cells since the row's start or the last Unpin()
  absl::Status status_;           // of reading deferred values
};

bool RetentionCursor::ReadCells(std::vector<Cell>* cells) {
  const size_t begin = cells->size();
  for (uint32_t batches = 1; status_.ok() && input_->ReadCells(cells); ++batches) {
    Filter(cells, begin);
    SkipCondemned();
    if (cells->size() > begin) {
      handed_out_ = true;
      return !policy_.reads_deferred || ReadDeferred(cells, begin);
    }
    // A giant row of condemned cells is not to be pinned all at once.
    if (!handed_out_) {
      Unpin();
    } else if (batches == kBatchesBeforeNone) {
      return true;
    }
  }
  return false;
}

void RetentionCursor::Filter(std::vector<Cell>* cells, size_t begin) {
  size_t kept = begin;
  for (size_t i = begin; i < cells->size(); ++i) {
    if (!Keeps((*cells)[i])) continue;
    if (kept != i) (*cells)[kept] = (*cells)[i];
    ++kept;
  }
  cells->resize(kept);
}

bool RetentionCursor::ReadDeferred(std::vector<Cell>* cells, size_t begin) {
  for (size_t i = begin; i < cells->size() && status_.ok(); ++i) {
    if ((*cells)[i].is_deferred()) status_ = (*cells)[i].ReadDeferred();
  }
  if (!status_.ok()) cells->resize(begin);
  return status_.ok();
}

void RetentionCursor::StartFamily(uint32_t family) {
  column_ = Cell{.family = family, .kind = CellKind::kDeleteFamily};  // equal to no column
  rule_ = nullptr;
  condemned_count_ = 0;
  if (family == kRowRank || family > policy_.rules.size()) return;
  const Retention& rule = policy_.rules[family - 1];
  if (!rule.KeepsEverything()) rule_ = &rule;
  is_rank_known_ = family > policy_.unknown_ranks.size() || !policy_.unknown_ranks[family - 1];
}

bool RetentionCursor::Keeps(const Cell& cell) {
  if (cell.is_tombstone()) {
    if (!policy_.drop_tombstones) return true;
    if (stats_ != nullptr) ++stats_->tombstones_dropped;
    return false;
  }
  if (cell.family != column_.family) StartFamily(cell.family);
  if (rule_ == nullptr) return true;
  if (CompareColumn(cell, column_) != 0) {
    column_ = cell;
    rank_ = 0;
    condemned_count_ = 0;
  }
  ++rank_;
  if (condemned_count_ == 0 && !Condemned(cell)) return true;
  ++condemned_count_;
  if (stats_ != nullptr) ++stats_->cells_condemned;
  return false;
}

// Engine rule 9. A partial rank is a lower bound of what the true rank was when the newest input was committed, so it is judged at that
// time; by age alone the newest version would go too, whatever the true rank is. Either stays true further down the column.
bool RetentionCursor::Condemned(const Cell& cell) const {
  if (!policy_.partial) return rule_->Condemned(rank_, cell.timestamp, policy_.now);
  if (is_rank_known_ && rule_->Condemned(rank_, cell.timestamp, policy_.newest_commit_time)) return true;
  return rule_->Condemned(1, cell.timestamp, policy_.now);
}

// Only where tombstones are dropped anyway: range tombstones stand further down the column. What is skipped is not counted.
void RetentionCursor::SkipCondemned() {
  if (condemned_count_ <= kCondemnedBeforeSkip || !policy_.drop_tombstones) return;
  condemned_count_ = 0;
  input_->SkipTo(column_.family, std::string(column_.qualifier) + '\0');
}

void RetentionCursor::Unpin() {
  if (column_.qualifier.data() != column_qualifier_.data()) {
    column_qualifier_.assign(column_.qualifier);
    column_.qualifier = column_qualifier_;
  }
  handed_out_ = false;
  input_->Unpin();
}

}  // namespace

std::unique_ptr<CellCursor> NewRetentionCursor(std::unique_ptr<CellCursor> input, RetentionPolicy policy, RetentionStats* stats) {
  const bool keeps_all_versions =
      std::all_of(policy.rules.begin(), policy.rules.end(), [](const Retention& rule) { return rule.KeepsEverything(); });
  if (keeps_all_versions && !policy.drop_tombstones && !policy.reads_deferred) return input;
  return std::make_unique<RetentionCursor>(std::move(input), std::move(policy), stats);
}

}  // namespace stele::internal
