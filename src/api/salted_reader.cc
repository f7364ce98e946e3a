#include <algorithm>
#include <utility>

#include "base/process_id.h"
#include "base/status.h"
#include "model/access.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {

// A heap of the scans that are on a row. The first one has the next row of the result.
class SaltedReader::Merge {
 public:
  Merge(const Table& table, const RowRange& range, int buckets, std::string_view delimiter,
        const Filter& filter, const ReadOptions& options)
      : is_reverse_(options.reverse), rows_left_(options.limit) {
    const auto ranges = SaltedRanges(range, buckets, delimiter);
    if (!ranges.ok()) {
      status_ = ranges.status();
      return;
    }
    head_bytes_ = ranges->empty() ? 0 : HeadBytes(buckets) + delimiter.size();
    for (const RowRange& part : *ranges)
      scans_.push_back(table.ReadRows(RowSet(part), filter, options));
  }

  bool Next() {
    if (is_at_end_ || !owner_.IsThis()) return false;
    is_at_end_ = !(has_started_ ? FinishRow() : Start()) || waiting_.empty();
    if (is_at_end_) return false;
    current_ = waiting_.front();
    const RowView& row = scans_[current_].row();
    row_ = internal::Access::Make<RowView>(row.row_key().substr(head_bytes_), row.cells(),
                                           row.is_last_piece());
    return true;
  }

  const RowView& row() const { return row_; }
  absl::Status status() const {
    STELE_RETURN_IF_ERROR(owner_.Check());
    return status_;
  }

 private:
  static size_t HeadBytes(int buckets) { return std::to_string(buckets - 1).size(); }

  std::string_view KeyOf(size_t scan) const {
    return scans_[scan].row().row_key().substr(head_bytes_);
  }
  // The order of std::push_heap, which puts the greatest element first.
  bool IsLater(size_t a, size_t b) const {
    const int order = KeyOf(a).compare(KeyOf(b));
    if (order == 0) return a > b;
    return is_reverse_ ? order < 0 : order > 0;
  }
  auto Later() const {
    return [this](size_t a, size_t b) { return IsLater(a, b); };
  }

  // Moves each scan to its first row. Returns false after an error.
  bool Start() {
    has_started_ = true;
    for (size_t scan = 0; scan < scans_.size(); ++scan) {
      if (!Advance(scan)) return false;
    }
    return status_.ok();
  }

  // Moves past the row or piece that the caller has seen. Returns false at the end.
  bool FinishRow() {
    const bool was_last_piece = row_.is_last_piece();
    if (!was_last_piece) {
      // Return the other pieces of the row first.
      if (scans_[current_].Next()) return true;
      status_ = scans_[current_].status();
      return false;
    }
    if (rows_left_ > 0 && --rows_left_ == 0) return false;
    std::pop_heap(waiting_.begin(), waiting_.end(), Later());
    waiting_.pop_back();
    return Advance(current_);
  }

  // Moves a scan to its next row and puts it into the heap. Returns false after an error.
  bool Advance(size_t scan) {
    if (!scans_[scan].Next()) {
      status_ = scans_[scan].status();
      return status_.ok();
    }
    waiting_.push_back(scan);
    std::push_heap(waiting_.begin(), waiting_.end(), Later());
    return true;
  }

  const internal::OwnerProcess owner_;
  const bool is_reverse_;
  int64_t rows_left_;  // 0: no limit
  absl::Status status_;
  std::vector<RowReader> scans_;
  std::vector<size_t> waiting_;  // a heap of scans that are on a row
  size_t current_ = 0;
  size_t head_bytes_ = 0;  // bucket and delimiter
  bool has_started_ = false;
  bool is_at_end_ = false;  // also after an error
  RowView row_;
};

SaltedReader::SaltedReader(const Table& table, const RowRange& range, int buckets,
                           std::string_view delimiter, const Filter& filter,
                           const ReadOptions& options)
    : merge_(std::make_unique<Merge>(table, range, buckets, delimiter, filter, options)) {}
SaltedReader::SaltedReader(SaltedReader&&) noexcept = default;
SaltedReader& SaltedReader::operator=(SaltedReader&&) noexcept = default;
SaltedReader::~SaltedReader() = default;

bool SaltedReader::Next() { return merge_ != nullptr && merge_->Next(); }

const RowView& SaltedReader::row() const {
  static const RowView none;
  return merge_ == nullptr ? none : merge_->row();
}

absl::Status SaltedReader::status() const {
  if (merge_ == nullptr) return internal::FailedPrecondition("salted reader: a moved-from handle");
  return merge_->status();
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
