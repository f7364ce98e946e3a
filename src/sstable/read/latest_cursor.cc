#include "sstable/read/latest_cursor.h"

#include <utility>

namespace stele::internal {

LatestCursor::LatestCursor(std::unique_ptr<CellCursor> latest,
                           std::function<std::unique_ptr<CellCursor>()> new_history,
                           CursorStats* stats)
    : latest_(std::move(latest)), new_history_(std::move(new_history)), stats_(stats) {}

bool LatestCursor::EnterRow(bool has_row) {
  is_history_placed_ = false;
  family_ = kRowFamily;
  return has_row;
}

absl::Status LatestCursor::status() const {
  return history_ == nullptr || history_->status().ok() ? latest_->status() : history_->status();
}

// Returns false if the row has no more history, or on failure.
bool LatestCursor::FillHistory() {
  if (next_ < read_.size()) return true;
  read_.clear();
  next_ = 0;
  return history_->ReadCells(&read_);
}

bool LatestCursor::ReadHistory(uint32_t family, std::string_view qualifier,
                               std::vector<Cell>* cells) {
  if (history_ == nullptr) history_ = new_history_();
  const Cell column{.family = family, .qualifier = qualifier};
  EnterColumn(column);
  const size_t count_before = cells->size();
  while (!has_column_ended_ && cells->size() == count_before) {
    has_column_ended_ = !FillHistory();
    for (; next_ < read_.size() && !has_column_ended_; ++next_) {
      const auto order = CompareColumn(read_[next_], column);
      has_column_ended_ = order > 0;
      if (has_column_ended_) break;
      if (order == 0) cells->push_back(read_[next_]);
    }
  }
  return history_->status().ok();
}

void LatestCursor::EnterColumn(const Cell& column) {
  if (family_ == column.family && qualifier_ == column.qualifier) return;
  family_ = column.family;
  qualifier_.assign(column.qualifier);
  if (stats_ != nullptr) ++stats_->history_reads;
  if (!is_history_placed_) {
    is_history_placed_ = true;
    read_.clear();
    next_ = 0;
    has_history_row_ =
        history_->SeekRow(latest_->row_key()) && history_->row_key() == latest_->row_key();
  }
  while (next_ < read_.size() && CompareColumn(read_[next_], column) < 0) ++next_;
  has_column_ended_ = !has_history_row_;
  if (has_history_row_ && next_ == read_.size()) history_->SkipTo(column.family, column.qualifier);
}

void LatestCursor::Unpin() {
  latest_->Unpin();
  if (history_ == nullptr || !is_history_placed_) return;
  const bool is_in_column = next_ < read_.size() && read_[next_].family == family_ &&
                            read_[next_].qualifier == qualifier_;
  if (is_in_column) return;
  // Cells read in advance for later columns are dropped, too. They are read again if they are
  // requested.
  if (next_ < read_.size()) is_history_placed_ = false;
  history_->Unpin();
}

}  // namespace stele::internal
