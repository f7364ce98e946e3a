// stele/row_set.h: which rows an operation is about.
//
// Errors:    builders never fail; a range whose start lies above its end, and an empty row key in a set, are InvalidArgument at use.
// Threads:   values, thread-compatible.
// Source:    google.bigtable.v2.RowRange, RowSet. Row keys are bytes, compared as unsigned.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"

namespace stele {
inline namespace v0 {

// How one end of a range binds: not at all, including its key, or excluding it.
enum class Bound : uint8_t { kUnbounded, kClosed, kOpen };

// A contiguous range of row keys. An empty bound is unbounded, on either side, open or closed. [a,a), (a,a] and (a,a) are legal and hold
// nothing. Default: all rows.
class RowRange {
 public:
  RowRange() = default;

  static RowRange All();
  static RowRange Empty();
  // The rows whose key begins with `prefix`. Prefix("") is All(), but DropRowRange refuses it: the range remembers how it was made.
  static RowRange Prefix(std::string prefix);
  static RowRange StartingAt(std::string start);
  // Up to `end` and with it.
  static RowRange EndingAt(std::string end);
  static RowRange Closed(std::string start, std::string end);     // [start, end]
  static RowRange Open(std::string start, std::string end);       // (start, end)
  static RowRange RightOpen(std::string start, std::string end);  // [start, end)
  static RowRange LeftOpen(std::string start, std::string end);   // (start, end]

  bool Contains(std::string_view row_key) const;
  // No row key can lie in it; also true of a range whose start lies above its end.
  bool IsEmpty() const;

  Bound start_bound() const { return start_bound_; }
  Bound end_bound() const { return end_bound_; }
  // Empty where unbounded.
  const std::string& start() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return start_; }
  const std::string& end() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return end_; }
  // Made by Prefix().
  bool is_prefix() const { return is_prefix_; }

  // "[\"a\", \"b\")", with bytes outside printable ASCII as \xNN; for messages.
  std::string ToString() const;

  friend bool operator==(const RowRange&, const RowRange&) = default;

 private:
  RowRange(Bound start_bound, std::string start, Bound end_bound, std::string end);

  std::string start_;
  std::string end_;
  Bound start_bound_ = Bound::kUnbounded;
  Bound end_bound_ = Bound::kUnbounded;
  bool is_prefix_ = false;
};

std::ostream& operator<<(std::ostream& out, const RowRange& range);

// A union of row keys and ranges: duplicates and overlaps give each row once, in the order of keys, whatever the order of Append.
// RowSet() holds nothing and reads nothing.
class RowSet {
 public:
  RowSet() = default;
  RowSet(RowRange range) { Append(std::move(range)); }  // NOLINT(google-explicit-constructor): a range is a set

  static RowSet All();

  RowSet& Append(std::string row_key);
  RowSet& Append(RowRange range);

  // As appended: unsorted, duplicates kept.
  const std::vector<std::string>& row_keys() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return row_keys_; }
  const std::vector<RowRange>& ranges() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return ranges_; }

  friend bool operator==(const RowSet&, const RowSet&) = default;

 private:
  std::vector<std::string> row_keys_;
  std::vector<RowRange> ranges_;
};

}  // namespace v0
}  // namespace stele
