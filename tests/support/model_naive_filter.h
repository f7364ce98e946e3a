// tests/support/model_naive_filter.h: filters implemented by their definition, as functions from a
// list of cells to a list of cells. Tests compare the engine with them. Also makes random filters.
//
// How:       Each filter takes the list of a row's cells and returns another list. It shares only
//            the filter expression with src/filter. If a list contains a cell more than once, an
//            interleave keeps the copies of one occurrence together, before those of the next
//            occurrence. Cells of a sink join the result at the end. The result is sorted by cell
//            position. The order of cells at equal positions is undefined, so compare InOrder() of
//            both results.
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "stele/filter.h"

namespace stele::internal {

struct NaiveCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  std::string value;
  std::string label = "";
  std::vector<size_t> trail = {};  // the enclosing interleaves: index of the cell in each of them

  friend bool operator==(const NaiveCell&, const NaiveCell&) = default;
};
using NaiveRow = std::vector<NaiveCell>;

// Applies the filter to a row. Bit i of `kept_samples` says whether the filter's RowSample i, in
// text order, keeps the row. Each filter object may occur only once in the expression.
NaiveRow FilterNaively(const Filter& filter, std::string_view row_key, const NaiveRow& row,
                       uint64_t kept_samples = UINT64_MAX);
// Returns the number of RowSample filters in the expression.
size_t CountSamples(const Filter& filter);
// Sorts by cell position, then by value and label.
NaiveRow InOrder(NaiveRow row);
// Prints "f:q@1=value#label ...".
std::string ToText(const NaiveRow& row);
std::ostream& operator<<(std::ostream& out, const NaiveCell& cell);

// The strings and numbers that a random filter uses. No list may be empty.
struct FilterWords {
  std::vector<std::string> families;
  std::vector<std::string> qualifiers;
  std::vector<std::string> values;
  std::vector<std::string> row_keys;
  std::vector<int64_t> timestamps;
  int samples_max = 0;  // RowSample filters in the expression, at most
};

// Returns a valid filter with at most `depth` levels of composites.
Filter RandomFilter(Random& random, const FilterWords& words, int depth);

}  // namespace stele::internal
