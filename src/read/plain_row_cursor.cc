#include "read/plain_row_cursor.h"

#include <utility>
#include <vector>

namespace stele::internal {
namespace {

// Ranks are true ones: all versions of the row are here.
void DropCondemned(const RetentionPolicy& policy, size_t begin, std::vector<Cell>* cells) {
  size_t kept = begin;
  uint64_t rank = 0;
  Cell column;  // equal to no cell's
  for (size_t i = begin; i < cells->size(); ++i) {
    const Cell& cell = (*cells)[i];
    if (cell.family <= policy.rules.size() && !policy.rules[cell.family - 1].KeepsEverything()) {
      if (CompareColumn(cell, column) != 0) rank = 0;
      column = cell;
      if (policy.rules[cell.family - 1].Condemned(++rank, cell.timestamp, policy.now)) continue;
    }
    if (kept != i) (*cells)[kept] = cell;
    ++kept;
  }
  cells->resize(kept);
}

class PlainRowCursor final : public CellCursor {
 public:
  PlainRowCursor(std::string_view row_key, PlainRow row, Direction direction, const std::optional<RetentionPolicy>& retention)
      : row_key_(row_key), row_(std::move(row)), direction_(direction), retention_(retention) {}

  bool SeekToEdge() override { return Seek(true); }
  bool SeekRow(std::string_view bound) override { return Seek(direction_ == Direction::kForward ? row_key_ >= bound : row_key_ < bound); }
  bool NextRow() override { return Seek(false); }
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override {
    if (!std::exchange(is_unread_, false)) return false;
    const size_t begin = cells->size();
    AppendKeptCells(row_, retention_, cells);
    return cells->size() > begin;
  }
  void SkipTo(uint32_t /*family*/, std::string_view /*qualifier*/) override {}
  void Unpin() override {}
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  bool Seek(bool is_found) { return is_unread_ = is_found; }

  const std::string_view row_key_;
  const PlainRow row_;
  const Direction direction_;
  const std::optional<RetentionPolicy> retention_;
  bool is_unread_ = false;  // it stands on the row, and its cells were not handed out
};

}  // namespace

void AppendKeptCells(const PlainRow& row, const std::optional<RetentionPolicy>& retention, std::vector<Cell>* cells) {
  const size_t begin = cells->size();
  row.AppendCells(cells);
  if (retention) DropCondemned(*retention, begin, cells);
}

std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainRow row, Direction direction,
                                              const std::optional<RetentionPolicy>& retention) {
  return std::make_unique<PlainRowCursor>(row_key, std::move(row), direction, retention);
}

}  // namespace stele::internal
