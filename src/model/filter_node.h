// model/filter_node.h: the nodes of a Filter's tree, for the code that evaluates filters.
//
// Used by:   model/filter.cc makes the nodes. filter/compile.cc compiles them. state/read_path.cc
//            skips that for PassAll.
// Errors:    none; ValidateFilter checks a filter that comes from a user.
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
  // The depth of nested conditions, chains and interleaves; 0 for the other kinds.
  int depth = 0;
  uint64_t wire_bytes = 0;  // of the equivalent google.bigtable.v2.RowFilter message
};

// The limits of a filter. Far beyond them, a builder keeps depth and wire_bytes but drops the
// children. So no destruction or traversal overflows the stack or runs too long (children may be
// shared). Every use of such a filter is refused.
inline constexpr int kFilterDepthMax = 20;
inline constexpr uint64_t kFilterWireBytesMax = 20'480;

// The memory that RE2 may use for one regex of a filter: enough for a literal as long as a filter
// may be.
inline constexpr int64_t kRegexMemoryBytesMax = int64_t{4} << 20;

}  // namespace stele::internal
