// tests/support/cell_naive_fold.h: a naive implementation of the aggregates, the reference that
// tests compare cell/fold.h with. It follows docs/reference/format/hll.md and shares no code with
// cell/fold.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

// Encodes a number as eight big-endian bytes, and decodes it.
std::string NaiveNumber(int64_t number);
int64_t NaiveNumberOf(std::string_view value);

// Returns the aggregate of the values, which may be in any order. `aggregate` is "sum", "min",
// "max" or "hll". There must be at least one value, and all must be well-formed.
std::string NaiveFold(std::string_view aggregate, const std::vector<std::string>& values);

// Returns the sketch of these items, or of items with these hashes.
std::string NaiveSketch(const std::vector<std::string>& items);
std::string NaiveSketchOfHashes(const std::vector<uint64_t>& hashes);

}  // namespace stele::internal
