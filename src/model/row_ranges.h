// model/row_ranges.h: sets of rows as half-open ranges of bytes, which is how the engine thinks of them.
//
// Path:      RowSet -> Normalize -> read planner; RowRange -> ToKeyRange -> DropRowRange, Compact, SampleRowKeys; tablets.
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

// No table's limit for row keys is greater.
inline constexpr size_t kRowKeyBytesMax = 65'535;

// [start, end), or [start, infinity). start "" is the beginning of the table. Empty if !unbounded_end and start >= end.
// `end` is "" where unbounded_end.
struct KeyRange {
  std::string start;
  std::string end;
  bool unbounded_end = false;

  static KeyRange All() { return {"", "", true}; }
  // Just one row.
  static KeyRange Single(std::string_view row_key);

  bool IsEmpty() const { return !unbounded_end && start >= end; }
  bool Contains(std::string_view row_key) const { return row_key >= start && (unbounded_end || row_key < end); }
  // `row_key` lies behind the range.
  bool EndsBefore(std::string_view row_key) const { return !unbounded_end && row_key >= end; }
  // All of `other` lies in it. An empty range lies in any.
  bool Covers(const KeyRange& other) const;
  // They have a key in common.
  bool Overlaps(const KeyRange& other) const;

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

// What lies in both; an empty range if nothing does.
KeyRange Intersect(const KeyRange& a, const KeyRange& b);

// The smallest range that holds both.
KeyRange Hull(const KeyRange& a, const KeyRange& b);

// The first string after all that begin with `prefix`; none if there is no such string ("" and all-0xff prefixes).
std::optional<std::string> PrefixSuccessor(std::string_view prefix);

// InvalidArgument if the start lies above the end. An empty range stays one. A bound that is longer than a row key
// becomes one of kRowKeyBytesMax + 1 bytes, with the same rows before it.
absl::StatusOr<KeyRange> ToKeyRange(const RowRange& range);

// The union, as ascending ranges that neither overlap nor touch; point keys k are [k, k + '\0'). Empty ranges are left out, so the result
// is empty where the set holds nothing.
absl::StatusOr<std::vector<KeyRange>> Normalize(const RowSet& rows);

}  // namespace stele::internal
