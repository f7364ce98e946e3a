#include "gc/retention.h"

#include <algorithm>

#include "model/access.h"
#include "model/gc_rule_node.h"

namespace stele::internal {
namespace {

using Kind = GcRuleNode::Kind;

uint64_t VersionLimit(const GcRuleNode& node) {
  return static_cast<uint64_t>(std::max<int32_t>(node.version_count, 0));
}
// Returns the limit of a kMaxAge node. The greatest number means "no limit" in Limits, so the
// greatest age (292,000 years) is shortened by one microsecond.
int64_t AgeLimit(const GcRuleNode& node) {
  return std::clamp<int64_t>(node.age_micros, 0, std::numeric_limits<int64_t>::max() - 1);
}

bool HasVersionLimit(const GcRuleNode& node) {
  if (node.kind == Kind::kMaxVersions) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const GcRule& child) { return HasVersionLimit(Access::Node(child)); });
}

}  // namespace

Retention::Retention(const GcRule& rule) : rule_(rule) {
  const Flat flat = Flatten(Access::Node(rule_));
  form_ = flat.form;
  limits_ = flat.limits;
  counts_versions_ = form_ != Form::kKeep && HasVersionLimit(Access::Node(rule_));
}

// Returns the rule as one or two limits, or kTree if that is impossible. A single limit is stored
// as kEither, with "no limit" as the other one.
Retention::Flat Retention::Flatten(const GcRuleNode& node) {
  switch (node.kind) {
    case Kind::kNone:
      return {};
    case Kind::kMaxVersions:
      return {Form::kEither, {VersionLimit(node), kAnyAge}};
    case Kind::kMaxAge:
      return {Form::kEither, {kAnyOrdinal, AgeLimit(node)}};
    case Kind::kUnion:
      return FlattenUnion(node);
    case Kind::kIntersection:
      return FlattenIntersection(node);
  }
  return {};
}

// A union is flat if all its children have the form kEither. It has the least value of each limit.
// Children that keep everything do not matter.
Retention::Flat Retention::FlattenUnion(const GcRuleNode& node) {
  Flat result;
  for (const GcRule& child : node.children) {
    const Flat flat = Flatten(Access::Node(child));
    if (flat.form == Form::kKeep) continue;
    if (flat.form != Form::kEither) return {Form::kTree, {}};
    result.form = Form::kEither;
    result.limits.version_count = std::min(result.limits.version_count, flat.limits.version_count);
    result.limits.age_micros = std::min(result.limits.age_micros, flat.limits.age_micros);
  }
  return result;
}

// An intersection is flat if each child is a single limit or has the form kBoth. It has the
// greatest value of each limit. If one child keeps everything, the intersection does, too.
Retention::Flat Retention::FlattenIntersection(const GcRuleNode& node) {
  bool is_tree = false;
  bool has_version_limit = false;
  bool has_age_limit = false;
  Limits limits{0, 0};
  for (const GcRule& child : node.children) {
    const Flat flat = Flatten(Access::Node(child));
    if (flat.form == Form::kKeep) return {};
    const bool limits_versions = flat.limits.version_count != kAnyOrdinal;
    const bool limits_age = flat.limits.age_micros != kAnyAge;
    is_tree |=
        flat.form == Form::kTree || (flat.form == Form::kEither && limits_versions && limits_age);
    if (limits_versions)
      limits.version_count = std::max(limits.version_count, flat.limits.version_count);
    if (limits_age) limits.age_micros = std::max(limits.age_micros, flat.limits.age_micros);
    has_version_limit |= limits_versions;
    has_age_limit |= limits_age;
  }
  if (node.children.empty()) return {};
  if (is_tree) return {Form::kTree, {}};
  if (has_version_limit && has_age_limit) return {Form::kBoth, limits};
  return has_version_limit ? Flat{Form::kEither, {limits.version_count, kAnyAge}}
                           : Flat{Form::kEither, {kAnyOrdinal, limits.age_micros}};
}

bool Retention::IsGarbageByTree(uint64_t ordinal, int64_t timestamp, int64_t now) const {
  return NodeCollects(Access::Node(rule_), ordinal, timestamp, now);
}

// The builders' limit of depth bounds the recursion (model/gc_rule_node.h).
bool Retention::NodeCollects(const GcRuleNode& node, uint64_t ordinal, int64_t timestamp,
                             int64_t now) {
  const auto collects = [&](const GcRule& child) {
    return NodeCollects(Access::Node(child), ordinal, timestamp, now);
  };
  switch (node.kind) {
    case Kind::kNone:
      return false;
    case Kind::kMaxVersions:
      return ordinal > VersionLimit(node);
    case Kind::kMaxAge:
      return OlderThan(AgeLimit(node), timestamp, now);
    case Kind::kUnion:
      return std::any_of(node.children.begin(), node.children.end(), collects);
    case Kind::kIntersection:
      return !node.children.empty() &&
             std::all_of(node.children.begin(), node.children.end(), collects);
  }
  return false;
}

}  // namespace stele::internal
