#include "remote/wire/gc_rule_translation.h"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/access.h"
#include "model/gc_rule_node.h"

namespace stele::internal {

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

template <typename RuleList>
absl::StatusOr<std::vector<GcRule>> ToGcRules(const RuleList& rules) {
  std::vector<GcRule> result;
  for (const admin_wire::GcRule& rule : rules) {
    STELE_ASSIGN_OR_RETURN(GcRule child, ToGcRule(rule));
    result.push_back(std::move(child));
  }
  return result;
}

absl::StatusOr<GcRule> ToAge(const google::protobuf::Duration& age) {
  const bool fits = age.seconds() >= 0 &&
                    age.seconds() < std::numeric_limits<int64_t>::max() / kMicrosPerSecond &&
                    age.nanos() >= 0 && age.nanos() < 1'000'000'000;
  if (!fits)
    return InvalidArgument("max_age must be at least one millisecond, and a valid duration");
  return GcRule::MaxAge(
      std::chrono::microseconds(age.seconds() * kMicrosPerSecond + age.nanos() / 1'000));
}

}  // namespace

absl::StatusOr<GcRule> ToGcRule(const admin_wire::GcRule& rule) {
  switch (rule.rule_case()) {
    case admin_wire::GcRule::kMaxNumVersions:
      return GcRule::MaxNumVersions(rule.max_num_versions());
    case admin_wire::GcRule::kMaxAge:
      return ToAge(rule.max_age());
    case admin_wire::GcRule::kIntersection: {
      STELE_ASSIGN_OR_RETURN(std::vector<GcRule> rules, ToGcRules(rule.intersection().rules()));
      return GcRule::Intersection(std::move(rules));
    }
    case admin_wire::GcRule::kUnion: {
      STELE_ASSIGN_OR_RETURN(std::vector<GcRule> rules, ToGcRules(rule.union_().rules()));
      return GcRule::Union(std::move(rules));
    }
    case admin_wire::GcRule::RULE_NOT_SET:
      break;
  }
  return GcRule::None();
}

admin_wire::GcRule ToWireGcRule(const GcRule& rule) {
  const GcRuleNode& node = Access::Node(rule);
  admin_wire::GcRule result;
  switch (node.kind) {
    case GcRuleNode::Kind::kNone:
      break;
    case GcRuleNode::Kind::kMaxVersions:
      result.set_max_num_versions(node.version_count);
      break;
    case GcRuleNode::Kind::kMaxAge:
      result.mutable_max_age()->set_seconds(node.age_micros / kMicrosPerSecond);
      result.mutable_max_age()->set_nanos(
          static_cast<int32_t>(node.age_micros % kMicrosPerSecond * 1'000));
      break;
    case GcRuleNode::Kind::kUnion:
      for (const GcRule& child : node.children)
        *result.mutable_union_()->add_rules() = ToWireGcRule(child);
      break;
    case GcRuleNode::Kind::kIntersection:
      for (const GcRule& child : node.children)
        *result.mutable_intersection()->add_rules() = ToWireGcRule(child);
      break;
  }
  return result;
}

}  // namespace stele::internal
