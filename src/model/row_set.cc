#include "stele/row_set.h"

#include <ostream>

#include "model/row_ranges.h"
#include "model/text.h"

namespace stele {
inline namespace v0 {

RowRange::RowRange(RangeBound start_bound, std::string start, RangeBound end_bound, std::string end)
    : start_(std::move(start)),
      end_(std::move(end)),
      start_bound_(start_.empty() ? RangeBound::kUnbounded : start_bound),
      end_bound_(end_.empty() ? RangeBound::kUnbounded : end_bound) {}

RowRange RowRange::All() { return RowRange(); }

// [x, x) for some x, treated like any other empty range.
RowRange RowRange::Empty() { return RightOpen(std::string(1, '\0'), std::string(1, '\0')); }

RowRange RowRange::Prefix(std::string prefix) {
  std::string end = internal::PrefixSuccessor(prefix).value_or("");
  RowRange range(RangeBound::kClosed, std::move(prefix), RangeBound::kOpen, std::move(end));
  range.is_prefix_ = true;
  return range;
}

RowRange RowRange::StartingAt(std::string start) {
  return RowRange(RangeBound::kClosed, std::move(start), RangeBound::kUnbounded, "");
}
RowRange RowRange::EndingAt(std::string end) {
  return RowRange(RangeBound::kUnbounded, "", RangeBound::kClosed, std::move(end));
}
RowRange RowRange::Closed(std::string start, std::string end) {
  return RowRange(RangeBound::kClosed, std::move(start), RangeBound::kClosed, std::move(end));
}
RowRange RowRange::Open(std::string start, std::string end) {
  return RowRange(RangeBound::kOpen, std::move(start), RangeBound::kOpen, std::move(end));
}
RowRange RowRange::RightOpen(std::string start, std::string end) {
  return RowRange(RangeBound::kClosed, std::move(start), RangeBound::kOpen, std::move(end));
}
RowRange RowRange::LeftOpen(std::string start, std::string end) {
  return RowRange(RangeBound::kOpen, std::move(start), RangeBound::kClosed, std::move(end));
}

bool RowRange::Contains(std::string_view row_key) const {
  if (start_bound_ == RangeBound::kClosed && row_key < start_) return false;
  if (start_bound_ == RangeBound::kOpen && row_key <= start_) return false;
  if (end_bound_ == RangeBound::kClosed && row_key > end_) return false;
  if (end_bound_ == RangeBound::kOpen && row_key >= end_) return false;
  return true;
}

bool RowRange::IsEmpty() const {
  const absl::StatusOr<internal::KeyRange> range = internal::ToKeyRange(*this);
  return !range.ok() || range->IsEmpty();
}

std::string RowRange::ToString() const {
  std::string out(1, start_bound_ == RangeBound::kOpen ? '(' : '[');
  if (start_bound_ != RangeBound::kUnbounded) out += internal::Quoted(start_);
  out += ", ";
  if (end_bound_ != RangeBound::kUnbounded) out += internal::Quoted(end_);
  out.push_back(end_bound_ == RangeBound::kClosed ? ']' : ')');
  return out;
}

std::ostream& operator<<(std::ostream& out, const RowRange& range) {
  return out << range.ToString();
}

RowSet RowSet::All() { return RowSet(RowRange::All()); }

RowSet& RowSet::Append(std::string row_key) {
  row_keys_.push_back(std::move(row_key));
  return *this;
}

RowSet& RowSet::Append(RowRange range) {
  ranges_.push_back(std::move(range));
  return *this;
}

}  // namespace v0
}  // namespace stele
