#include "support/cell_vector_cursor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/invariant.h"

namespace stele::internal {
namespace {

// Copies of the bytes that a caller may view. Each copy has its own allocation and is overwritten
// before it is freed.
class LentBytes {
 public:
  ~LentBytes() { TakeBack(); }

  std::string_view Lend(std::string_view bytes) {
    auto& copy = copies_.emplace_back(std::make_unique<char[]>(bytes.size()), bytes.size());
    std::memcpy(copy.first.get(), bytes.data(), bytes.size());
    return {copy.first.get(), bytes.size()};
  }
  void TakeBack() {
    for (auto& [bytes, length] : copies_) std::memset(bytes.get(), 0xdb, length);
    copies_.clear();
  }

 private:
  std::vector<std::pair<std::unique_ptr<char[]>, size_t>> copies_;
};

void CheckOrder(const OwnedRows& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    STELE_CHECK(i == 0 || rows[i - 1].row_key < rows[i].row_key);
    const std::vector<OwnedCell>& cells = rows[i].cells;
    for (size_t c = 1; c < cells.size(); ++c)
      STELE_CHECK(CompareCells(cells[c - 1].View(), cells[c].View()) < 0);
  }
}

class VectorCursor final : public CellCursor {
 public:
  VectorCursor(OwnedRows rows, const VectorCursorOptions& options)
      : rows_(std::move(rows)), options_(options) {
    CheckOrder(rows_);
    STELE_CHECK(options_.batch_cells > 0);
    if (options_.direction == Direction::kReverse) std::reverse(rows_.begin(), rows_.end());
  }

  bool SeekToEdge() override { return !FailsNow() && Enter(0); }

  bool SeekRow(std::string_view bound) override {
    if (FailsNow()) return false;
    const bool forward = options_.direction == Direction::kForward;
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const OwnedRow& row) {
      return forward ? row.row_key >= bound : row.row_key < bound;
    });
    return Enter(found - rows_.begin());
  }

  bool NextRow() override {
    STELE_CHECK(row_index_.has_value());
    return !FailsNow() && Enter(*row_index_ + 1);
  }

  std::string_view row_key() const override {
    STELE_CHECK(row_index_.has_value());
    return row_key_;
  }

  bool ReadCells(std::vector<Cell>* cells) override {
    STELE_CHECK(row_index_.has_value());
    if (FailsNow()) return false;
    const std::vector<OwnedCell>& row = rows_[*row_index_].cells;
    size_t count = 0;
    for (; cell_index_ < row.size() && count < options_.batch_cells; ++cell_index_) {
      if (Skipped(row[cell_index_])) continue;
      Cell cell = row[cell_index_].View();
      cell.qualifier = lent_cells_.Lend(cell.qualifier);
      cell.value = lent_cells_.Lend(cell.value);
      cells->push_back(cell);
      ++count;
    }
    return count > 0;
  }

  bool IsRowDone() const override {
    return row_index_.has_value() && cell_index_ == rows_[*row_index_].cells.size();
  }

  void SkipTo(uint32_t family, std::string_view qualifier) override {
    STELE_CHECK(row_index_.has_value());
    OwnedCell target{
        .family = family, .kind = CellKind::kDeleteRange, .qualifier = std::string(qualifier)};
    STELE_CHECK(!skip_to_.has_value() || CompareColumn(skip_to_->View(), target.View()) <= 0);
    skip_to_ = std::move(target);
  }

  void Unpin() override { lent_cells_.TakeBack(); }
  absl::Status status() const override { return status_; }

 private:
  bool FailsNow() {
    STELE_CHECK(status_.ok());
    if (++calls_ != options_.failing_call) return false;
    Leave();
    status_ = absl::DataLossError("vector cursor: asked to fail");
    return true;
  }

  bool Enter(size_t row_index) {
    Leave();
    if (row_index >= rows_.size()) return false;
    row_index_ = row_index;
    row_key_ = lent_row_key_.Lend(rows_[row_index].row_key);
    return true;
  }

  void Leave() {
    lent_cells_.TakeBack();
    lent_row_key_.TakeBack();
    row_index_.reset();
    skip_to_.reset();
    cell_index_ = 0;
  }

  bool Skipped(const OwnedCell& cell) const {
    if (!skip_to_.has_value() || cell.kind == CellKind::kDeleteRow) return false;
    if (cell.kind == CellKind::kDeleteFamily && cell.family == skip_to_->family) return false;
    return CompareColumn(cell.View(), skip_to_->View()) < 0;
  }

  OwnedRows rows_;  // in the cursor's direction
  const VectorCursorOptions options_;
  std::optional<size_t> row_index_;
  std::string_view row_key_;
  size_t cell_index_ = 0;
  std::optional<OwnedCell> skip_to_;
  LentBytes lent_row_key_;
  LentBytes lent_cells_;
  uint64_t calls_ = 0;
  absl::Status status_;
};

}  // namespace

std::unique_ptr<CellCursor> NewVectorCursor(OwnedRows rows, const VectorCursorOptions& options) {
  return std::make_unique<VectorCursor>(std::move(rows), options);
}

bool ReadNextCells(CellCursor* cursor, std::vector<Cell>* cells) {
  const bool is_done = cursor->IsRowDone();
  const bool has_more = cursor->ReadCells(cells);
  STELE_CHECK(!is_done || !has_more);
  return has_more;
}

std::vector<OwnedCell> ReadRow(CellCursor* cursor) {
  std::vector<OwnedCell> owned;
  std::vector<Cell> batch;
  while (ReadNextCells(cursor, &batch)) {
    for (const Cell& cell : batch) owned.push_back(OwnedCell::Copy(cell));
    batch.clear();
    cursor->Unpin();
  }
  return owned;
}

OwnedRows ReadAll(CellCursor* cursor) {
  OwnedRows rows;
  for (bool found = cursor->SeekToEdge(); found; found = cursor->NextRow()) {
    OwnedRow row{std::string(cursor->row_key()), ReadRow(cursor)};
    if (!cursor->status().ok()) break;
    if (!row.cells.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<OwnedCell> WithRangesJoined(const std::vector<OwnedCell>& cells) {
  std::vector<OwnedCell> joined;
  std::optional<size_t> last;  // the last range tombstone of the column
  for (const OwnedCell& cell : cells) {
    if (last.has_value() && CompareColumn(joined[*last].View(), cell.View()) != 0) last.reset();
    if (cell.kind != CellKind::kDeleteRange) {
      joined.push_back(cell);
    } else if (last.has_value() && cell.timestamp >= joined[*last].range_start - 1) {
      joined[*last].range_start = std::min(joined[*last].range_start, cell.range_start);
    } else {
      last = joined.size();
      joined.push_back(cell);
    }
  }
  return joined;
}

OwnedRows WithRangesJoined(OwnedRows rows) {
  for (OwnedRow& row : rows) row.cells = WithRangesJoined(row.cells);
  return rows;
}

}  // namespace stele::internal
