// stele/filter.h: filters that select and transform the cells of a row during a read.
//
// Errors:    builders never fail. The call that uses an invalid filter returns InvalidArgument
//            before it reads a row.
// Threads:   immutable value; safe to share.
// Source:    google.bigtable.v2.RowFilter.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele {
namespace internal {
struct Access;
struct FilterNode;
}  // namespace internal
inline namespace v0 {

// A range of byte strings: qualifiers or values. Default: all strings.
//
// Bounds are literal, unlike those of a RowRange: "" is the empty string and not "unbounded".
// RightOpen("", "") contains nothing; Closed("", "") contains only "". An empty range such as [a,
// a) is valid and matches nothing. start > end is InvalidArgument when the range is used.
class [[nodiscard]] ByteRange {
 public:
  ByteRange() = default;

  // Constructs any combination of bounds. The string of an unbounded side is ignored.
  ByteRange(RangeBound start_bound, std::string start, RangeBound end_bound, std::string end);

  static ByteRange All();                                          // all strings
  static ByteRange StartingAt(std::string start);                  // [start, unbounded)
  static ByteRange EndingAt(std::string end);                      // (unbounded, end]
  static ByteRange Closed(std::string start, std::string end);     // [start, end]
  static ByteRange Open(std::string start, std::string end);       // (start, end)
  static ByteRange RightOpen(std::string start, std::string end);  // [start, end)
  static ByteRange LeftOpen(std::string start, std::string end);   // (start, end]

  // True if `bytes` is in the range.
  bool Contains(std::string_view bytes) const;

  // The kinds of the two ends.
  RangeBound start_bound() const { return start_bound_; }
  RangeBound end_bound() const { return end_bound_; }
  // The strings of the two ends. Ignored where the range is unbounded.
  const std::string& start() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return start_; }
  const std::string& end() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return end_; }

  friend bool operator==(const ByteRange&, const ByteRange&) = default;

 private:
  std::string start_;
  std::string end_;
  RangeBound start_bound_ = RangeBound::kUnbounded;
  RangeBound end_bound_ = RangeBound::kUnbounded;
};

// A filter maps the ordered cells of one row to an ordered list of cells. A read does not return a
// row for which that list is empty. Filters never change stored data. Cheap to copy. Default:
// PassAll().
//
// Regexes: RE2 syntax on bytes (Latin-1). A regex must match the whole string: "a" does not match
// "ab". "." does not match a newline; "\C" matches any byte.
//
// Limits, checked when the filter is used:
//   - chains, interleaves and conditions nest at most 20 deep
//   - at most 20,480 bytes, measured as the equivalent google.bigtable.v2.RowFilter message
//   - RE2 must be able to compile each regex in 4 MiB (less if there are more than 16 regexes)
//   - one cell and its copies made by interleaves pass through at most 65,536 filters
//   - at most 64 dependent conditions: each needs the result of the one before, as in a chain or in
//     a predicate
//
// Cost: a filter that selects families, columns, versions or rows skips most other data on disk.
// Conditions and interleaves cost CPU time per cell. If the filter has conditions, a row above
// 1 MiB is read several times: once for the result, and once for each condition in the longest
// sequence of dependent ones.
class [[nodiscard]] Filter {
 public:
  Filter() = default;

  // Passes every cell.
  static Filter PassAll();
  // Passes no cell.
  static Filter BlockAll();
  // Passes the newest `count` cells of each column, among the cells that reach this filter.
  // count >= 1.
  static Filter Latest(int count);

  // ---- by name ----

  // Passes families whose name matches `regex`, which must not contain ':'.
  static Filter FamilyRegex(std::string regex);
  // Passes columns whose qualifier matches `regex`.
  static Filter ColumnRegex(std::string regex);
  // Passes one family.
  static Filter Family(std::string name);
  // Passes one column.
  static Filter Column(std::string family, std::string qualifier);
  // Passes a range of qualifiers of one family.
  static Filter ColumnRange(std::string family, ByteRange qualifiers);

  // ---- by value or timestamp ----

  // Passes cells whose value is in `values`.
  static Filter ValueRange(ByteRange values);
  // Passes cells whose value matches `regex`.
  static Filter ValueRegex(std::string regex);
  // Passes values that have the length of `mask` and in which every bit of `mask` is set. The mask
  // must not be empty.
  static Filter ValueBitmask(std::string mask);
  // Passes cells whose timestamp is in `range`. See stele::TimestampRange for invalid ranges.
  static Filter TimestampRange(stele::TimestampRange range);

  // ---- by row: all cells of the row or none ----

  // Passes rows whose key matches `regex`, which must not be empty.
  static Filter RowKeyRegex(std::string regex);
  // Passes each row with `probability`, which is greater than 0 and less than 1. The decision for a
  // row is the same throughout one read.
  static Filter RowSample(double probability);

  // ---- by position in the row ----

  // Passes the first `count` cells of the row. count >= 1.
  static Filter CellsRowLimit(int count);
  // Drops the first `count` cells of the row. count >= 0.
  static Filter CellsRowOffset(int count);

  // ---- transformations ----

  // Replaces each value by the empty string.
  static Filter StripValue();
  // Adds a label to each cell: 1 to 15 characters of [a-z0-9-]. A chain in which a cell could pass
  // two Labels is invalid.
  static Filter Label(std::string label);

  // Sends its input directly to the result of the whole filter and passes nothing to the next
  // filter in the chain. Not allowed inside a Condition.
  static Filter Sink();

  // ---- composition ----

  // Applies `if_true` to the input if `predicate` returns any cell for it, otherwise `if_false`.
  static Filter Condition(Filter predicate, Filter if_true, Filter if_false = BlockAll());

  // Chain applies each filter to the result of the one before. Interleave applies every filter to
  // the same input and merges the results in cell order, keeping duplicates. Both need at least two
  // filters.
  static Filter Chain(std::vector<Filter> filters);
  static Filter Interleave(std::vector<Filter> filters);
  template <typename... Filters>
  requires(sizeof...(Filters) > 0 && (std::same_as<std::remove_cvref_t<Filters>, Filter> &&
                                      ...)) static Filter Chain(Filters&&... filters) {
    return Chain(std::vector<Filter>{std::forward<Filters>(filters)...});
  }
  template <typename... Filters>
  requires(sizeof...(Filters) > 0 && (std::same_as<std::remove_cvref_t<Filters>, Filter> &&
                                      ...)) static Filter Interleave(Filters&&... filters) {
    return Interleave(std::vector<Filter>{std::forward<Filters>(filters)...});
  }

  // Parses the text form of a filter. It has one word for each builder above:
  //   all  none  latest(N)  family("F")  family_regex("RE")  column("F", "Q")
  //   column_regex("RE")  column_range("F", RANGE)  value_range(RANGE)  value_regex("RE")
  //   value_bitmask("MASK")  timestamps(START, END)  timestamps(START, )  row_regex("RE")
  //   sample(P)  row_limit(N)  row_offset(N)  strip  label("L")  sink
  //   condition(PREDICATE, IF_TRUE, IF_FALSE)  chain(F, ...)  interleave(F, ...)
  // RANGE has a bracket, an optional string, a comma, an optional string and a bracket:
  //   ["a", "b")  ["a", )  (, "b"]
  // START and END are microseconds. Strings are in double quotes with the escapes
  // \" \\ \n \r \t \0 and \xNN. White space between words is ignored.
  //
  // Parse checks the syntax and the nesting depth. Everything else is checked when the filter is
  // used. Errors: InvalidArgument, with the position.
  [[nodiscard]] static absl::StatusOr<Filter> Parse(std::string_view text);

  // Returns the text form. Parse(filter.ToString()) equals `filter` if its depth is within the
  // limit.
  std::string ToString() const;

  // Compares the expressions, not their effect.
  bool operator==(const Filter& other) const;

 private:
  friend struct internal::Access;

  explicit Filter(std::shared_ptr<const internal::FilterNode> node) : node_(std::move(node)) {}
  const internal::FilterNode& node() const;

  std::shared_ptr<const internal::FilterNode> node_;  // null: PassAll()
};

std::ostream& operator<<(std::ostream& out, const Filter& filter);

}  // namespace v0
}  // namespace stele
