#include "merge/run_cursor.h"

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

class RunCursor final : public CellCursor {
 public:
  RunCursor(std::vector<RunPart> ascending, OpenRunPart open, Direction direction)
      : parts_(std::move(ascending)),
        open_(std::move(open)),
        is_reverse_(direction == Direction::kReverse) {}

  bool SeekToEdge() override {
    return status_.ok() && EnterFrom(is_reverse_ ? parts_.size() - 1 : 0);
  }
  bool SeekRow(std::string_view bound) override;
  bool NextRow() override;
  std::string_view row_key() const override { return cursor_->row_key(); }

  bool ReadCells(std::vector<Cell>* cells) override { return Checked(cursor_->ReadCells(cells)); }
  bool IsRowDone() const override { return cursor_->IsRowDone(); }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    cursor_->SkipTo(family, qualifier);
  }
  bool ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) override {
    return Checked(cursor_->ReadHistory(family, qualifier, cells));
  }
  void Unpin() override {
    if (cursor_ != nullptr) cursor_->Unpin();
  }
  absl::Status status() const override { return status_; }

 private:
  size_t PartOf(std::string_view bound) const;
  bool EnterFrom(size_t part);
  bool Open(size_t part);
  // Returns the result of a call of cursor_. A failure of cursor_ becomes this cursor's failure.
  bool Checked(bool result) {
    if (!result) status_ = cursor_->status();
    return result;
  }

  const std::vector<RunPart> parts_;
  const OpenRunPart open_;
  const bool is_reverse_;
  size_t part_ = 0;  // the open part
  bool is_open_ = false;
  std::unique_ptr<CellCursor> cursor_;  // for the open part; null if nothing of it is needed
  bool on_row_ = false;
  absl::Status status_;
};

// Returns the first part, in the run's direction, that may have a row on this side of the bound;
// parts_.size() or more if there is none.
size_t RunCursor::PartOf(std::string_view bound) const {
  if (is_reverse_) {
    const auto begins_before = [bound](const RunPart& part) { return part.start < bound; };
    const auto end = std::partition_point(parts_.begin(), parts_.end(), begins_before);
    // A bound before the first part gives the greatest number, which is above all parts.
    return static_cast<size_t>(end - parts_.begin()) - 1;
  }
  const auto ends_before = [bound](const RunPart& part) {
    return !part.unbounded_end && part.end <= bound;
  };
  return static_cast<size_t>(std::partition_point(parts_.begin(), parts_.end(), ends_before) -
                             parts_.begin());
}

bool RunCursor::SeekRow(std::string_view bound) {
  on_row_ = false;
  if (!status_.ok()) return false;
  const size_t part = PartOf(bound);
  if (part >= parts_.size()) return false;
  if (!Open(part)) return false;
  on_row_ = cursor_ != nullptr && Checked(cursor_->SeekRow(bound));
  return on_row_ || (status_.ok() && EnterFrom(is_reverse_ ? part - 1 : part + 1));
}

bool RunCursor::NextRow() {
  if (!on_row_) return false;
  if (Checked(cursor_->NextRow())) return true;
  return status_.ok() && EnterFrom(is_reverse_ ? part_ - 1 : part_ + 1);
}

// Moves to the first row of this part or of the next ones.
bool RunCursor::EnterFrom(size_t part) {
  on_row_ = false;
  for (; part < parts_.size(); part += is_reverse_ ? ~size_t{0} : 1) {
    if (!Open(part)) return false;
    on_row_ = cursor_ != nullptr && Checked(cursor_->SeekToEdge());
    if (on_row_ || !status_.ok()) return on_row_;
  }
  return false;
}

// Closes the open part first, so that two parts are never open.
bool RunCursor::Open(size_t part) {
  if (is_open_ && part_ == part) return true;
  is_open_ = false;
  cursor_.reset();
  absl::StatusOr<std::unique_ptr<CellCursor>> cursor = open_(part);
  if (!cursor.ok()) {
    status_ = std::move(cursor).status();
    return false;
  }
  cursor_ = *std::move(cursor);
  part_ = part;
  is_open_ = true;
  return true;
}

}  // namespace

std::unique_ptr<CellCursor> NewRunCursor(std::vector<RunPart> ascending, OpenRunPart open,
                                         Direction direction) {
  return std::make_unique<RunCursor>(std::move(ascending), std::move(open), direction);
}

}  // namespace stele::internal
