// tests/support/cell_naive_fold.h: aggregates written naively from docs/format/hll.md and the words "sum", "minimum", "maximum", to hold
// cell/fold.h against. Shares no code with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

// Eight bytes big-endian, and back.
std::string NaiveNumber(int64_t number);
int64_t NaiveNumberOf(std::string_view value);

// What the values come to, in any order; `aggregate` is "sum", "min", "max" or "hll". At least one value, all of them well-formed.
std::string NaiveFold(std::string_view aggregate, const std::vector<std::string>& values);

// The sketch of these items. `hashes`: instead of items, their hashes.
std::string NaiveSketch(const std::vector<std::string>& items);
std::string NaiveSketchOfHashes(const std::vector<uint64_t>& hashes);

}  // namespace stele::internal
