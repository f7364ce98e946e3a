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
  int depth = 0;            // conditions, chains and interleaves on the longest path down; 0 for the other kinds
  uint64_t wire_bytes = 0;  // of the equal google.bigtable.v2.RowFilter message
};

// The limits of a filter. A builder that goes far beyond keeps depth and wire_bytes and lets the children go, so that neither destruction
// nor any walk can run out of stack or time (children may be shared); such a filter is refused wherever it is used.
inline constexpr int kFilterDepthMax = 20;
inline constexpr uint64_t kFilterWireBytesMax = 20'480;

// What RE2 may spend on one regex of a filter: enough for a literal as long as a filter may be.
inline constexpr int64_t kRegexMemoryBytesMax = int64_t{4} << 20;

}  // namespace stele::internal
