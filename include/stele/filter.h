// stele/filter.h: which cells of a row a read returns, and in what form.
//
// Errors:    builders never fail; a wrong filter is InvalidArgument of the call that first uses it, before any row is read.
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
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele {
namespace internal {
struct FilterNode;
}
inline namespace v0 {

// A range of bytes: qualifiers or values. Bounds are literal, unlike those of a RowRange: "" is the empty string, so RightOpen("", "")
// holds nothing and Closed("", "") just "". start > end is InvalidArgument at use; an empty range like [a,a) reads nothing.
// Default: all.
class ByteRange {
 public:
  ByteRange() = default;

  // Any combination of bounds; the bytes of an unbounded side are ignored.
  ByteRange(Bound start_bound, std::string start, Bound end_bound, std::string end);

  static ByteRange All();
  static ByteRange StartingAt(std::string start);
  static ByteRange EndingAt(std::string end);
  static ByteRange Closed(std::string start, std::string end);     // [start, end]
  static ByteRange Open(std::string start, std::string end);       // (start, end)
  static ByteRange RightOpen(std::string start, std::string end);  // [start, end)
  static ByteRange LeftOpen(std::string start, std::string end);   // (start, end]

  bool Contains(std::string_view bytes) const;

  Bound start_bound() const { return start_bound_; }
  Bound end_bound() const { return end_bound_; }
  const std::string& start() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return start_; }
  const std::string& end() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return end_; }

  friend bool operator==(const ByteRange&, const ByteRange&) = default;

 private:
  std::string start_;
  std::string end_;
  Bound start_bound_ = Bound::kUnbounded;
  Bound end_bound_ = Bound::kUnbounded;
};

// A filter takes the cells of one row, in order, and gives a list of cells, in order; a row for which it gives none is not returned.
// It never changes what is stored. Cheap to copy. Default: PassAll.
//
// Regexes are RE2's, on bytes (Latin-1), and must match the whole of what they are held against: "a" does not match "ab".
// "." does not match a newline; "\C" matches any byte.
// Limits at use: chains, interleaves and conditions nested at most 20 deep; 20,480 bytes, measured as the equal
// google.bigtable.v2.RowFilter message would measure; regexes that RE2 cannot hold in 4 MiB (less, where there are more than 16) are
// refused, and so are interleaves that could take one cell through more than 65,536 filters, and more than 64 conditions of which each has
// to wait for the one before (as in a chain, or inside a predicate).
//
// Cost: a filter that can pass only some families, columns, versions or rows reads little else. Conditions and interleaves cost time for
// each cell. A row above 1 MiB is read again for each condition that has to be decided before another can be, and for the answer.
class Filter {
 public:
  Filter() = default;

  // Everything; nothing.
  static Filter PassAll();
  static Filter BlockAll();
  // The newest `count` cells of each column, of those that reach this filter. count >= 1.
  static Filter Latest(int count);

  // By name: a regex on the family (no ':' in it) or on the qualifier; one family; one column; a range of one family's qualifiers.
  static Filter FamilyRegex(std::string regex);
  static Filter ColumnRegex(std::string regex);
  static Filter Family(std::string name);
  static Filter Column(std::string family, std::string qualifier);
  static Filter ColumnRange(std::string family, ByteRange qualifiers);

  // By value.
  static Filter ValueRange(ByteRange values);
  static Filter ValueRegex(std::string regex);
  // Values as long as `mask` in which every bit of it is set. The mask must not be empty.
  static Filter ValueBitmask(std::string mask);

  // By timestamp; see stele::TimestampRange for what is refused.
  static Filter TimestampRange(stele::TimestampRange range);

  // By row: the whole row or nothing. The regex must not be empty. RowSample keeps a row with `probability`, in (0, 1).
  static Filter RowKeyRegex(std::string regex);
  static Filter RowSample(double probability);

  // By place in the row: the first `count` cells (count >= 1); all but the first `count` (count >= 0).
  static Filter CellsRowLimit(int count);
  static Filter CellsRowOffset(int count);

  // Changes of form: an empty value; a label of 1 to 15 of [a-z0-9-], at most one along any path through chains.
  static Filter StripValue();
  static Filter Label(std::string label);

  // Sends its input straight to the result of the whole filter, past everything that follows, and gives nothing on. Not inside a
  // Condition.
  static Filter Sink();

  // if_true, on the input, if `predicate` gives any cell for it; else if_false.
  static Filter Condition(Filter predicate, Filter if_true, Filter if_false = BlockAll());

  // Chain: each on what the one before gives. Interleave: each on the input, the results merged in order, duplicates kept. At least two.
  static Filter Chain(std::vector<Filter> filters);
  static Filter Interleave(std::vector<Filter> filters);
  template <typename... Filters>
  requires(sizeof...(Filters) > 0 && (std::same_as<std::remove_cvref_t<Filters>, Filter> && ...)) static Filter
      Chain(Filters&&... filters) {
    return Chain(std::vector<Filter>{std::forward<Filters>(filters)...});
  }
  template <typename... Filters>
  requires(sizeof...(Filters) > 0 && (std::same_as<std::remove_cvref_t<Filters>, Filter> && ...)) static Filter
      Interleave(Filters&&... filters) {
    return Interleave(std::vector<Filter>{std::forward<Filters>(filters)...});
  }

  // The text form, one word for each builder above:
  //   all  none  latest(N)  family("F")  family_regex("RE")  column("F", "Q")  column_regex("RE")  column_range("F", RANGE)
  //   value_range(RANGE)  value_regex("RE")  value_bitmask("MASK")  timestamps(START, END)  timestamps(START, )
  //   row_regex("RE")  sample(P)  row_limit(N)  row_offset(N)  strip  label("L")  sink
  //   condition(PREDICATE, IF_TRUE, IF_FALSE)  chain(F, ...)  interleave(F, ...)
  // RANGE is  [ or (,  a string or nothing,  a comma,  a string or nothing,  ] or ):  ["a", "b")  ["a", )  (, "b"]. START and END are
  // microseconds. Strings stand in double quotes with \" \\ \n \r \t \0 and \xNN escapes. White space between words is free.
  // Parse(filter.ToString()) equals filter for every filter of legal depth. Parse judges the form only, and a depth over the limit; what
  // the filter says is judged where it is used. Errors: InvalidArgument, with the position.
  static absl::StatusOr<Filter> Parse(std::string_view text);
  std::string ToString() const;

  // The same expression (not merely the same effect).
  bool operator==(const Filter& other) const;

  // For the engine.
  explicit Filter(std::shared_ptr<const internal::FilterNode> node) : node_(std::move(node)) {}
  const internal::FilterNode& node() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  std::shared_ptr<const internal::FilterNode> node_;  // none: pass all
};

std::ostream& operator<<(std::ostream& out, const Filter& filter);

}  // namespace v0
}  // namespace stele
