#include "cell/bounded_cursor.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::internal {
namespace {

class BoundedCursor final : public CellCursor {
 public:
  BoundedCursor(std::unique_ptr<CellCursor> input, Direction direction, std::string start,
                std::optional<std::string> end)
      : input_(std::move(input)),
        direction_(direction),
        start_(std::move(start)),
        end_(std::move(end)) {}

  bool SeekToEdge() override {
    if (direction_ == Direction::kForward)
      return Admit(start_.empty() ? input_->SeekToEdge() : input_->SeekRow(start_));
    return Admit(end_.has_value() ? input_->SeekRow(*end_) : input_->SeekToEdge());
  }

  bool SeekRow(std::string_view bound) override {
    if (direction_ == Direction::kForward)
      return Admit(input_->SeekRow(std::max(bound, std::string_view(start_))));
    return Admit(
        input_->SeekRow(end_.has_value() ? std::min(bound, std::string_view(*end_)) : bound));
  }

  // Once outside the range, the cursor must not move: the input is still on the row outside.
  bool NextRow() override { return inside_ && Admit(input_->NextRow()); }

  std::string_view row_key() const override { return input_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override { return inside_ && input_->ReadCells(cells); }
  bool IsRowDone() const override { return inside_ && input_->IsRowDone(); }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    if (inside_) input_->SkipTo(family, qualifier);
  }
  bool ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) override {
    return inside_ && input_->ReadHistory(family, qualifier, cells);
  }
  void Unpin() override { input_->Unpin(); }
  absl::Status status() const override { return input_->status(); }

 private:
  // The seeks respect one end of the range. This checks the other end.
  bool Admit(bool found) {
    inside_ =
        found && (direction_ == Direction::kForward ? !end_.has_value() || input_->row_key() < *end_
                                                    : input_->row_key() >= start_);
    return inside_;
  }

  const std::unique_ptr<CellCursor> input_;
  const Direction direction_;
  const std::string start_;
  const std::optional<std::string> end_;
  bool inside_ = false;
};

}  // namespace

std::unique_ptr<CellCursor> NewBoundedCursor(std::unique_ptr<CellCursor> input, Direction direction,
                                             std::string start, std::optional<std::string> end) {
  return std::make_unique<BoundedCursor>(std::move(input), direction, std::move(start),
                                         std::move(end));
}

}  // namespace stele::internal
