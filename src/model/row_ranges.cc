#include "model/row_ranges.h"

#include <algorithm>

#include "base/status.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

// The least string greater than `bytes`.
std::string Successor(std::string_view bytes) {
  std::string next(bytes);
  next.push_back('\0');
  return next;
}

// Truncates a bound that is longer than any row key. The same rows are before and after the
// truncated bound.
void CutToRowKeys(std::string* bound) {
  if (bound->size() > kRowKeyBytesMax)
    *bound = Successor(std::string_view(*bound).substr(0, kRowKeyBytesMax));
}

// True if `a` ends after `b`.
bool EndsLater(const KeyRange& a, const KeyRange& b) {
  if (b.unbounded_end) return false;
  return a.unbounded_end || a.end > b.end;
}

}  // namespace

KeyRange KeyRange::Single(std::string_view row_key) {
  return {std::string(row_key), Successor(row_key), false};
}

bool KeyRange::Covers(const KeyRange& other) const {
  return other.IsEmpty() || (other.start >= start && !EndsLater(other, *this));
}

bool KeyRange::Overlaps(const KeyRange& other) const {
  const KeyRange& shorter = EndsLater(*this, other) ? other : *this;
  return shorter.unbounded_end || std::max<std::string_view>(start, other.start) < shorter.end;
}

KeyRange Intersect(const KeyRange& a, const KeyRange& b) {
  const KeyRange& shorter = EndsLater(a, b) ? b : a;
  return {std::max(a.start, b.start), shorter.end, shorter.unbounded_end};
}

KeyRange Hull(const KeyRange& a, const KeyRange& b) {
  const KeyRange& longer = EndsLater(a, b) ? a : b;
  return {std::min(a.start, b.start), longer.end, longer.unbounded_end};
}

std::optional<std::string> PrefixSuccessor(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string next(prefix);
  next.back() = static_cast<char>(next.back() + 1);
  return next;
}

absl::StatusOr<KeyRange> ToKeyRange(const RowRange& range) {
  STELE_RETURN_IF_ERROR(ValidateRowRange(range));
  KeyRange result;
  result.start =
      range.start_bound() == RangeBound::kOpen ? Successor(range.start()) : range.start();
  result.unbounded_end = range.end_bound() == RangeBound::kUnbounded;
  result.end = range.end_bound() == RangeBound::kClosed ? Successor(range.end()) : range.end();
  CutToRowKeys(&result.start);
  CutToRowKeys(&result.end);
  return result;
}

absl::StatusOr<std::vector<KeyRange>> Normalize(const RowSet& rows) {
  std::vector<KeyRange> all;
  all.reserve(rows.row_keys().size() + rows.ranges().size());
  for (const std::string& row_key : rows.row_keys()) {
    STELE_RETURN_IF_ERROR(ValidateRowKey(row_key));
    all.push_back(KeyRange::Single(row_key));
  }
  for (const RowRange& range : rows.ranges()) {
    STELE_ASSIGN_OR_RETURN(KeyRange one, ToKeyRange(range));
    if (!one.IsEmpty()) all.push_back(std::move(one));
  }
  if (all.size() <= 1) return all;
  std::sort(all.begin(), all.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.start < b.start; });
  std::vector<KeyRange> merged;
  for (KeyRange& range : all) {
    const bool joins =
        !merged.empty() && (merged.back().unbounded_end || range.start <= merged.back().end);
    if (!joins) {
      merged.push_back(std::move(range));
    } else if (EndsLater(range, merged.back())) {
      merged.back().end = std::move(range.end);
      merged.back().unbounded_end = range.unbounded_end;
    }
  }
  return merged;
}

}  // namespace stele::internal
