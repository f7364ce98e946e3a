// stele/row_set.h: ranges and sets of row keys.
//
// Row keys are byte strings and compare as unsigned bytes.
// Errors:    builders never fail. A call returns InvalidArgument if it uses a range whose start is
//            greater than its end, or a set that contains an empty row key.
// Threads:   values; thread-compatible.
// Source:    google.bigtable.v2.RowRange, RowSet.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
inline namespace v0 {

// The kind of one end of a range.
enum class RangeBound : uint8_t {
  kUnbounded,  // no limit on this side
  kClosed,     // includes the bound
  kOpen        // excludes the bound
};

// A contiguous range of row keys. Default: all rows.
// An empty key as a bound means unbounded, on either side. [a, a), (a, a] and (a, a) are valid and
// contain nothing.
class [[nodiscard]] RowRange {
 public:
  RowRange() = default;

  // All rows.
  static RowRange All();
  // No rows.
  static RowRange Empty();
  // The rows whose key starts with `prefix`. Prefix("") contains all rows like All(), but
  // DropRowRange rejects it; see is_prefix().
  static RowRange Prefix(std::string prefix);
  static RowRange StartingAt(std::string start);                  // [start, unbounded)
  static RowRange EndingAt(std::string end);                      // (unbounded, end]
  static RowRange Closed(std::string start, std::string end);     // [start, end]
  static RowRange Open(std::string start, std::string end);       // (start, end)
  static RowRange RightOpen(std::string start, std::string end);  // [start, end)
  static RowRange LeftOpen(std::string start, std::string end);   // (start, end]

  // True if `row_key` is in the range.
  bool Contains(std::string_view row_key) const;
  // True if the range contains no row key, including when its start is greater than its end.
  bool IsEmpty() const;

  // The kinds of the two ends.
  RangeBound start_bound() const { return start_bound_; }
  RangeBound end_bound() const { return end_bound_; }
  // The keys of the two ends. Empty where the range is unbounded.
  const std::string& start() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return start_; }
  const std::string& end() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return end_; }
  // True if Prefix() created the range.
  bool is_prefix() const { return is_prefix_; }

  // Returns a text for messages, such as "[\"a\", \"b\")". Bytes outside printable ASCII are \xNN.
  std::string ToString() const;

  friend bool operator==(const RowRange&, const RowRange&) = default;

 private:
  RowRange(RangeBound start_bound, std::string start, RangeBound end_bound, std::string end);

  std::string start_;
  std::string end_;
  RangeBound start_bound_ = RangeBound::kUnbounded;
  RangeBound end_bound_ = RangeBound::kUnbounded;
  bool is_prefix_ = false;
};

std::ostream& operator<<(std::ostream& out, const RowRange& range);

// A union of row keys and ranges. A read returns each row once, in key order, even if keys and
// ranges overlap or were appended in another order. Default: the empty set, which reads nothing.
class RowSet {
 public:
  RowSet() = default;
  // Converts a range to the set of its rows.
  // NOLINTNEXTLINE(google-explicit-constructor): a range is a set
  RowSet(RowRange range) { Append(std::move(range)); }

  // The set of all rows.
  static RowSet All();

  // Adds a row key, or a range of them.
  RowSet& Append(std::string row_key);
  RowSet& Append(RowRange range);

  // The keys and ranges as appended: unsorted, with duplicates.
  const std::vector<std::string>& row_keys() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return row_keys_;
  }
  const std::vector<RowRange>& ranges() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return ranges_; }

  friend bool operator==(const RowSet&, const RowSet&) = default;

 private:
  std::vector<std::string> row_keys_;
  std::vector<RowRange> ranges_;
};

}  // namespace v0
}  // namespace stele
