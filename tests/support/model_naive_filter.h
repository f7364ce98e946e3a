// support/model_naive_filter.h: filters by their definition, lists in and lists out, to hold the engine against; and filters at random.
//
// How:       each filter takes the whole list of a row's cells and makes another. Nothing is shared with src/filter but the expression.
//            Where a list holds a cell more than once, an interleave's copies of one stay together, before those of the next; a sink's
//            cells join the result at the end. The result is sorted by place; in which order equal places stand is not defined, so
//            compare what InOrder() makes of both.
// Threads:   pure.
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
  std::vector<size_t> trail = {};  // of the interleaves it is in: which of their cells it was

  friend bool operator==(const NaiveCell&, const NaiveCell&) = default;
};
using NaiveRow = std::vector<NaiveCell>;

// Bit i of `kept_samples`: whether the filter's RowSample i, in the order of its text, keeps the row. No filter of one expression may be
// the same object as another.
NaiveRow FilterNaively(const Filter& filter, std::string_view row_key, const NaiveRow& row, uint64_t kept_samples = UINT64_MAX);
// How many of an expression are RowSample.
size_t CountSamples(const Filter& filter);
// By place; equal places by value and label.
NaiveRow InOrder(NaiveRow row);
// "f:q@1=value#label ..."
std::string ToText(const NaiveRow& row);
std::ostream& operator<<(std::ostream& out, const NaiveCell& cell);

// What a random filter is made of. None may be empty.
struct FilterWords {
  std::vector<std::string> families;
  std::vector<std::string> qualifiers;
  std::vector<std::string> values;
  std::vector<std::string> row_keys;
  std::vector<int64_t> timestamps;
  int samples_max = 0;  // RowSample in it at most
};

// Valid. `depth`: of composites at most.
Filter RandomFilter(Random& random, const FilterWords& words, int depth);

}  // namespace stele::internal
