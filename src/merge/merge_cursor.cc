#include "merge/merge_cursor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "merge/row_merge.h"

namespace stele::internal {
namespace {

// The first eight bytes of a row key as a number that compares as they do; shorter keys as if zeros followed, so equal heads say nothing.
uint64_t HeadOf(std::string_view row_key) {
  uint64_t head = 0;
  if (!row_key.empty()) std::memcpy(&head, row_key.data(), std::min(row_key.size(), sizeof head));
  return __builtin_bswap64(head);
}

// Sources stand in an array sorted by row, ties newest first: those on the current row are its first row_count_ entries. A stack is a few
// dozen sources at most, so that moving an entry to its place costs less than the comparisons a tree would save, and the common step -
// the front source goes on alone - is one comparison.
class MergeCursor final : public CellCursor {
 public:
  MergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first, Direction direction)
      : sources_(std::move(newest_first)), is_reverse_(direction == Direction::kReverse) {
    order_.reserve(sources_.size());
  }

  bool SeekToEdge() override {
    return SeekAll([](CellCursor& source) { return source.SeekToEdge(); });
  }
  bool SeekRow(std::string_view bound) override {
    return SeekAll([bound](CellCursor& source) { return source.SeekRow(bound); });
  }
  bool NextRow() override;
  std::string_view row_key() const override { return order_.front().row_key; }

  bool ReadCells(std::vector<Cell>* cells) override;
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override { return status_; }

 private:
  struct Entry {
    uint64_t head;
    std::string_view row_key;
    uint32_t source;  // 0 is the newest
  };

  template <typename Seek>
  bool SeekAll(Seek seek);
  int CompareRows(const Entry& a, const Entry& b) const {
    const int result = a.head != b.head ? (a.head < b.head ? -1 : 1) : a.row_key.compare(b.row_key);
    return is_reverse_ ? -result : result;
  }
  bool OrderedBefore(const Entry& a, const Entry& b) const {
    const int by_row = CompareRows(a, b);
    return by_row != 0 ? by_row < 0 : a.source < b.source;
  }
  Entry EntryOf(uint32_t source) const {
    const std::string_view row_key = sources_[source]->row_key();
    return {HeadOf(row_key), row_key, source};
  }
  CellCursor& front() { return *sources_[order_.front().source]; }
  bool StepSource(size_t position);
  void PlaceInOrder(size_t position);
  bool RemoveEnded(size_t position);
  bool FindRow();
  RowMerge& row_merge();
  bool Fail(absl::Status status);

  const std::vector<std::unique_ptr<CellCursor>> sources_;
  const bool is_reverse_;
  std::vector<Entry> order_;  // the sources that are not at their end
  size_t row_count_ = 0;      // how many stand on the current row
  bool is_merging_ = false;   // row_merge_ knows the current row's sources
  RowMerge row_merge_;
  absl::Status status_;
};

template <typename Seek>
bool MergeCursor::SeekAll(Seek seek) {
  if (!status_.ok()) return false;
  order_.clear();
  for (uint32_t i = 0; i < sources_.size(); ++i) {
    if (seek(*sources_[i])) {
      order_.push_back(EntryOf(i));
    } else if (absl::Status status = sources_[i]->status(); !status.ok()) {
      return Fail(std::move(status));
    }
  }
  std::sort(order_.begin(), order_.end(), [this](const Entry& a, const Entry& b) { return OrderedBefore(a, b); });
  return FindRow();
}

bool MergeCursor::NextRow() {
  if (!status_.ok() || order_.empty()) return false;
  is_merging_ = false;
  if (row_count_ == 1) {
    // The front source alone had the row; mostly it has the next one alone too.
    if (!StepSource(0)) return RemoveEnded(0) && FindRow();
    if (order_.size() == 1 || CompareRows(order_[0], order_[1]) < 0) return true;
    PlaceInOrder(0);
    return FindRow();
  }
  for (size_t i = row_count_; i-- > 0;) {
    if (StepSource(i)) {
      PlaceInOrder(i);
    } else if (!RemoveEnded(i)) {
      return false;
    }
  }
  return FindRow();
}

bool MergeCursor::StepSource(size_t position) {
  Entry& entry = order_[position];
  if (!sources_[entry.source]->NextRow()) return false;
  entry = EntryOf(entry.source);
  return true;
}

// Moves the entry at `position` to its place among those behind it, which are in order.
void MergeCursor::PlaceInOrder(size_t position) {
  const auto begin = order_.begin() + static_cast<ptrdiff_t>(position);
  const Entry entry = *begin;
  const auto place =
      std::lower_bound(begin + 1, order_.end(), entry, [this](const Entry& a, const Entry& b) { return OrderedBefore(a, b); });
  std::move(begin + 1, place, begin);
  *(place - 1) = entry;
}

// The source at `position` has no further row; false if that is a failure.
bool MergeCursor::RemoveEnded(size_t position) {
  if (absl::Status status = sources_[order_[position].source]->status(); !status.ok()) return Fail(std::move(status));
  order_.erase(order_.begin() + static_cast<ptrdiff_t>(position));
  return true;
}

// The current row is the front entry's; counts who else stands on it.
bool MergeCursor::FindRow() {
  is_merging_ = false;
  row_count_ = std::min<size_t>(order_.size(), 1);
  while (row_count_ < order_.size() && CompareRows(order_[row_count_], order_.front()) == 0) ++row_count_;
  return row_count_ > 0;
}

RowMerge& MergeCursor::row_merge() {
  if (!is_merging_) {
    is_merging_ = true;
    row_merge_.StartRow();
    for (size_t i = 0; i < row_count_; ++i) row_merge_.AddSource(sources_[order_[i].source].get());
  }
  return row_merge_;
}

bool MergeCursor::Fail(absl::Status status) {
  status_ = std::move(status);
  return false;
}

bool MergeCursor::ReadCells(std::vector<Cell>* cells) {
  if (!status_.ok()) return false;
  if (row_count_ == 1) {
    if (front().ReadCells(cells)) return true;
    status_ = front().status();
    return false;
  }
  if (row_merge().ReadCells(cells)) return true;
  status_ = row_merge_.status();
  return false;
}

void MergeCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  if (!status_.ok()) return;
  if (row_count_ == 1) {
    front().SkipTo(family, qualifier);
  } else {
    row_merge().SkipTo(family, qualifier);
  }
}

void MergeCursor::Unpin() {
  if (row_count_ == 1) {
    front().Unpin();
  } else if (is_merging_) {
    row_merge_.Unpin();
  }
}

}  // namespace

std::unique_ptr<CellCursor> NewMergeCursor(std::vector<std::unique_ptr<CellCursor>> newest_first, Direction direction) {
  if (newest_first.size() == 1) return std::move(newest_first.front());
  return std::make_unique<MergeCursor>(std::move(newest_first), direction);
}

}  // namespace stele::internal
