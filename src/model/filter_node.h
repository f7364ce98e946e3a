// model/filter_node.h: what a Filter holds inside, for the rooms that carry filters out.
//
// Path:      Filter::node() -> filter (program), read (pruning).
// Errors:    none; a filter from a user is judged by ValidateFilter.
// Threads:   immutable once built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stele/filter.h"

namespace stele::internal {

enum class FilterKind : uint8_t {
  kPassAll,
  kBlockAll,
  kLatest,          // count
  kFamilyRegex,     // text
  kColumnRegex,     // text
  kFamily,          // text: the name
  kColumn,          // text: the family; qualifier
  kColumnRange,     // text: the family; range
  kValueRange,      // range
  kTimestampRange,  // timestamps
  kRowKeyRegex,     // text
  kValueRegex,      // text
  kValueBitmask,    // text: the mask
  kCellsRowLimit,   // count
  kCellsRowOffset,  // count
  kRowSample,       // probability
  kStripValue,
  kLabel,  // text
  kSink,
  kCondition,   // children: predicate, if_true, if_false
  kChain,       // children
  kInterleave,  // children
};

struct FilterNode {
  FilterKind kind = FilterKind::kPassAll;
  int count = 0;
  double probability = 0;
  std::string text;
  std::string qualifier;
  ByteRange range;
  stele::TimestampRange timestamps;
  std::vector<Filter> children;
  int depth = 0;  // conditions, chains and interleaves on the longest path down; 0 for the other kinds
};

// Composites inside each other. A builder that goes far beyond keeps the depth and lets the children go, so that neither destruction nor
// any walk can run out of stack; such a filter is refused wherever it is used.
inline constexpr int kFilterDepthMax = 20;
inline constexpr int kFilterDepthKept = 2 * kFilterDepthMax;

// Bytes of the equal google.bigtable.v2.RowFilter message.
uint64_t FilterWireBytes(const Filter& filter);
inline constexpr uint64_t kFilterWireBytesMax = 20'480;

// What RE2 may spend on one regex of a filter.
inline constexpr int64_t kRegexMemoryBytesMax = int64_t{1} << 20;

}  // namespace stele::internal
