// model/gc_rule_node.h: the nodes of a GcRule's tree, for the code that evaluates or stores rules.
//
// Used by:   model/gc_rule.cc makes the nodes. gc/retention.cc evaluates them,
//            manifest/definition_coding.cc stores them.
// Errors:    none; ValidateGcRule checks a rule that comes from a user.
// Threads:   immutable once built.
#pragma once

#include <cstdint>
#include <vector>

#include "stele/gc_rule.h"

namespace stele::internal {

struct GcRuleNode {
  enum class Kind : uint8_t { kNone, kMaxVersions, kMaxAge, kUnion, kIntersection };

  Kind kind = Kind::kNone;
  int32_t version_count = 0;     // kMaxVersions; any value before validation
  int64_t age_micros = 0;        // kMaxAge; any value before validation
  std::vector<GcRule> children;  // kUnion, kIntersection: two or more
  int depth = 0;                 // depth of nested unions and intersections
  uint64_t wire_bytes = 0;       // of the equivalent google.bigtable.admin.v2.GcRule message
};

// The limits of a rule. Far beyond them, a builder keeps depth and wire_bytes but drops the
// children. So no destruction or traversal overflows the stack or runs too long (children may be
// shared). Every use of such a rule is refused.
inline constexpr int kGcRuleDepthMax = 20;
inline constexpr uint64_t kGcRuleWireBytesMax = 500;

}  // namespace stele::internal
