// model/row_ranges.h: sets of rows as half-open ranges of bytes, the engine's representation.
//
// Used by:   db/local_table.cc normalizes the RowSet of a scan, and converts the RowRange of
//            DropRowRange, Compact and SampleRowKeys. Tablets have such a range
//            (manifest/version.h).
// Errors:    InvalidArgument for an inverted range or an empty row key.
// Threads:   values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/row_set.h"

namespace stele::internal {

// [start, end), or [start, infinity). The start "" is the beginning of the table. Empty if
// !unbounded_end and start >= end. `end` is "" if unbounded_end.
struct KeyRange {
  std::string start;
  std::string end;
  bool unbounded_end = false;

  static KeyRange All() { return {"", "", true}; }
  // The range of one row.
  static KeyRange Single(std::string_view row_key);

  bool IsEmpty() const { return !unbounded_end && start >= end; }
  bool Contains(std::string_view row_key) const {
    return row_key >= start && (unbounded_end || row_key < end);
  }
  // True if `row_key` is after the range.
  bool EndsBefore(std::string_view row_key) const { return !unbounded_end && row_key >= end; }
  // True if `other` is inside this range. An empty range is inside every range.
  bool Covers(const KeyRange& other) const;
  // True if they have a key in common.
  bool Overlaps(const KeyRange& other) const;

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

// The intersection; an empty range if there is no common key.
KeyRange Intersect(const KeyRange& a, const KeyRange& b);

// The smallest range that contains both.
KeyRange Hull(const KeyRange& a, const KeyRange& b);

// The least string greater than all that begin with `prefix`; nullopt if there is no such string
// ("" and all-0xff prefixes).
std::optional<std::string> PrefixSuccessor(std::string_view prefix);

// Returns InvalidArgument if the start is greater than the end. An empty range stays empty. A bound
// longer than a row key is shortened to kRowKeyBytesMax + 1 bytes, with the same rows before it.
absl::StatusOr<KeyRange> ToKeyRange(const RowRange& range);

// The union, as ascending ranges that neither overlap nor touch. A single key k is [k, k + '\0').
// Empty ranges are dropped, so the result is empty if the set contains no rows.
absl::StatusOr<std::vector<KeyRange>> Normalize(const RowSet& rows);

}  // namespace stele::internal
