#include "merge/merge_cursor.h"

#include <utility>

#include "merge/row_merge.h"
#include "merge/row_order.h"

namespace stele::internal {
namespace {

// Merges rows. While one source alone has the rows up to the next row of all others, its cells are
// passed through.
class MergeCursor final : public CellCursor {
 public:
  MergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first, Direction direction,
              SoleColumn sole_column)
      : sources_(std::move(newest_first)),
        sole_column_(std::move(sole_column)),
        order_(sources_.size(), RowComparison(direction)) {}

  bool SeekToEdge() override {
    return SeekAll([](CellCursor& source) { return source.SeekToEdge(); });
  }
  bool SeekRow(std::string_view bound) override {
    return SeekAll([bound](CellCursor& source) { return source.SeekRow(bound); });
  }
  bool NextRow() override;
  std::string_view row_key() const override { return order_.row_key(); }

  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override {
    return alone_ != nullptr ? alone_->IsRowDone() : is_merging_ && row_merge_.IsRowDone();
  }
  size_t OnlySource() const override {
    return alone_ != nullptr ? order_.sources().front() : kSeveralSources;
  }
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override { return status_; }

 private:
  template <typename Seek>
  bool SeekAll(Seek seek);
  bool EndSource(CellCursor& source);
  bool FindRow();
  RowMerge& row_merge();
  bool Fail(absl::Status status);

  const std::vector<std::unique_ptr<CellCursor>> sources_;
  const SoleColumn sole_column_;
  RowOrder<RowComparison> order_;
  CellCursor* alone_ = nullptr;  // the source of the current row, if only one has it
  bool is_merging_ = false;      // row_merge_ has the current row's sources
  RowMerge row_merge_;
  absl::Status status_;
};

template <typename Seek>
bool MergeCursor::SeekAll(Seek seek) {
  if (!status_.ok()) return false;
  order_.Clear();
  for (uint32_t i = 0; i < sources_.size(); ++i) {
    if (seek(*sources_[i])) {
      order_.Place(i, sources_[i]->row_key());
    } else if (absl::Status status = sources_[i]->status(); !status.ok()) {
      return Fail(std::move(status));
    }
  }
  order_.Restart();
  return FindRow();
}

bool MergeCursor::NextRow() {
  if (!status_.ok() || order_.sources().empty()) return false;
  if (alone_ != nullptr) {
    if (alone_->NextRow()) return order_.StepAlone(alone_->row_key()) || FindRow();
    return EndSource(*alone_) && FindRow();
  }
  for (const uint32_t index : order_.sources()) {
    CellCursor& source = *sources_[index];
    if (source.NextRow()) {
      order_.Step(source.row_key());
    } else if (!EndSource(source)) {
      return false;
    }
  }
  return FindRow();
}

// Call when the first source of the current row has no further row. Returns false if the source
// failed.
bool MergeCursor::EndSource(CellCursor& source) {
  if (absl::Status status = source.status(); !status.ok()) return Fail(std::move(status));
  order_.StepToEnd();
  return true;
}

bool MergeCursor::FindRow() {
  is_merging_ = false;
  const bool found = order_.FindRow();
  alone_ = order_.sources().size() == 1 ? sources_[order_.sources().front()].get() : nullptr;
  return found;
}

RowMerge& MergeCursor::row_merge() {
  if (!is_merging_) {
    is_merging_ = true;
    row_merge_.StartRow(sole_column_, order_.sources().size());
    for (const uint32_t source : order_.sources())
      row_merge_.AddSource(sources_[source].get(), sole_column_.OlderGreatest(source));
  }
  return row_merge_;
}

bool MergeCursor::Fail(absl::Status status) {
  status_ = std::move(status);
  return false;
}

bool MergeCursor::ReadCells(std::vector<Cell>* cells) {
  if (!status_.ok()) return false;
  if (alone_ != nullptr) {
    if (alone_->ReadCells(cells)) return true;
    status_ = alone_->status();
    return false;
  }
  if (row_merge().ReadCells(cells)) return true;
  status_ = row_merge_.status();
  return false;
}

void MergeCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  if (!status_.ok()) return;
  if (alone_ != nullptr) {
    alone_->SkipTo(family, qualifier);
  } else {
    row_merge().SkipTo(family, qualifier);
  }
}

void MergeCursor::Unpin() {
  if (alone_ != nullptr) {
    alone_->Unpin();
  } else if (is_merging_) {
    row_merge_.Unpin();
  }
}

}  // namespace

std::unique_ptr<CellCursor> NewMergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first,
                                           Direction direction, SoleColumn sole_column) {
  if (newest_first.size() == 1) return std::move(newest_first.front());
  return std::make_unique<MergeCursor>(std::move(newest_first), direction, std::move(sole_column));
}

}  // namespace stele::internal
