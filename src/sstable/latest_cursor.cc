#include "sstable/latest_cursor.h"

#include <utility>

namespace stele::internal {

LatestCursor::LatestCursor(std::unique_ptr<CellCursor> latest, std::function<std::unique_ptr<CellCursor>()> new_history, CursorStats* stats)
    : latest_(std::move(latest)), new_history_(std::move(new_history)), stats_(stats) {}

bool LatestCursor::EnterRow(bool has_row) {
  is_history_placed_ = false;
  return has_row;
}

absl::Status LatestCursor::status() const {
  return history_ == nullptr || history_->status().ok() ? latest_->status() : history_->status();
}

// False when the row has no more history, or on failure.
bool LatestCursor::FillHistory() {
  if (next_ < read_.size()) return true;
  read_.clear();
  next_ = 0;
  return history_->ReadCells(&read_);
}

bool LatestCursor::ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) {
  if (history_ == nullptr) history_ = new_history_();
  const Cell column{family, CellKind::kSet, 0, 0, qualifier, {}};
  if (!is_history_placed_) {
    is_history_placed_ = true;
    read_.clear();
    next_ = 0;
    has_history_row_ = history_->SeekRow(latest_->row_key()) && history_->row_key() == latest_->row_key();
    if (has_history_row_) history_->SkipTo(family, qualifier);
    if (stats_ != nullptr) ++stats_->history_reads;
  }
  const size_t count_before = cells->size();
  while (has_history_row_ && cells->size() == count_before && FillHistory()) {
    for (; next_ < read_.size(); ++next_) {
      const auto order = CompareColumn(read_[next_], column);
      if (order > 0) return true;
      if (order == 0) cells->push_back(read_[next_]);
    }
  }
  return history_->status().ok();
}

void LatestCursor::Unpin() {
  latest_->Unpin();
  if (history_ == nullptr || !is_history_placed_) return;
  // What was read ahead would dangle; it is sought again if it is asked for. But within a column that would begin anew.
  if (next_ == read_.size()) history_->Unpin();
}

}  // namespace stele::internal
