#include "stele/row_set.h"

#include <ostream>

#include "model/row_ranges.h"
#include "model/text.h"

namespace stele {
inline namespace v0 {

RowRange::RowRange(Bound start_bound, std::string start, Bound end_bound, std::string end)
    : start_(std::move(start)),
      end_(std::move(end)),
      start_bound_(start_.empty() ? Bound::kUnbounded : start_bound),
      end_bound_(end_.empty() ? Bound::kUnbounded : end_bound) {}

RowRange RowRange::All() { return RowRange(); }

// [x, x) for some x: like any other range that holds nothing.
RowRange RowRange::Empty() { return RightOpen(std::string(1, '\0'), std::string(1, '\0')); }

RowRange RowRange::Prefix(std::string prefix) {
  std::string end = internal::PrefixSuccessor(prefix).value_or("");
  RowRange range(Bound::kClosed, std::move(prefix), Bound::kOpen, std::move(end));
  range.is_prefix_ = true;
  return range;
}

RowRange RowRange::StartingAt(std::string start) { return RowRange(Bound::kClosed, std::move(start), Bound::kUnbounded, ""); }
RowRange RowRange::EndingAt(std::string end) { return RowRange(Bound::kUnbounded, "", Bound::kClosed, std::move(end)); }
RowRange RowRange::Closed(std::string start, std::string end) {
  return RowRange(Bound::kClosed, std::move(start), Bound::kClosed, std::move(end));
}
RowRange RowRange::Open(std::string start, std::string end) {
  return RowRange(Bound::kOpen, std::move(start), Bound::kOpen, std::move(end));
}
RowRange RowRange::RightOpen(std::string start, std::string end) {
  return RowRange(Bound::kClosed, std::move(start), Bound::kOpen, std::move(end));
}
RowRange RowRange::LeftOpen(std::string start, std::string end) {
  return RowRange(Bound::kOpen, std::move(start), Bound::kClosed, std::move(end));
}

bool RowRange::Contains(std::string_view row_key) const {
  if (start_bound_ == Bound::kClosed && row_key < start_) return false;
  if (start_bound_ == Bound::kOpen && row_key <= start_) return false;
  if (end_bound_ == Bound::kClosed && row_key > end_) return false;
  if (end_bound_ == Bound::kOpen && row_key >= end_) return false;
  return true;
}

bool RowRange::IsEmpty() const {
  const absl::StatusOr<internal::KeyRange> range = internal::ToKeyRange(*this);
  return !range.ok() || range->IsEmpty();
}

std::string RowRange::ToString() const {
  std::string out(1, start_bound_ == Bound::kOpen ? '(' : '[');
  if (start_bound_ != Bound::kUnbounded) out += internal::Quoted(start_);
  out += ", ";
  if (end_bound_ != Bound::kUnbounded) out += internal::Quoted(end_);
  out.push_back(end_bound_ == Bound::kClosed ? ']' : ')');
  return out;
}

std::ostream& operator<<(std::ostream& out, const RowRange& range) { return out << range.ToString(); }

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
