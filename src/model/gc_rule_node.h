// model/gc_rule_node.h: what a GcRule holds inside, for the rooms that carry rules out or store them.
//
// Path:      GcRule::node() -> gc (verdicts), manifest (storage).
// Errors:    none; a rule from a user is judged by ValidateGcRule.
// Threads:   immutable once built.
#pragma once

#include <cstdint>
#include <vector>

#include "stele/gc_rule.h"

namespace stele::internal {

struct GcRuleNode {
  enum class Kind : uint8_t { kNone, kMaxVersions, kMaxAge, kUnion, kIntersection };

  Kind kind = Kind::kNone;
  int32_t version_count = 0;     // kMaxVersions; may be anything before validation
  int64_t age_micros = 0;        // kMaxAge; may be anything before validation
  std::vector<GcRule> children;  // kUnion, kIntersection: two or more
  int depth = 0;                 // unions and intersections on the longest path down
  uint64_t wire_bytes = 0;       // of the equal google.bigtable.admin.v2.GcRule message
};

// The limits of a rule. A builder that goes far beyond keeps depth and wire_bytes and lets the children go, so that neither destruction nor
// any walk can run out of stack or time (children may be shared); such a rule is refused wherever it is used.
inline constexpr int kGcRuleDepthMax = 20;
inline constexpr uint64_t kGcRuleWireBytesMax = 500;

}  // namespace stele::internal
