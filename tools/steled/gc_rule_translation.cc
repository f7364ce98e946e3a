#include "gc_rule_translation.h"

#include <charconv>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.h"

namespace stele::server {

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

template <typename RuleList>
absl::StatusOr<std::vector<GcRule>> ToGcRules(const RuleList& rules) {
  std::vector<GcRule> result;
  for (const admin_wire::GcRule& rule : rules) {
    STELED_ASSIGN_OR_RETURN(GcRule child, ToGcRule(rule));
    result.push_back(std::move(child));
  }
  return result;
}

absl::StatusOr<GcRule> ToAge(const google::protobuf::Duration& age) {
  const bool fits = age.seconds() >= 0 && age.seconds() < std::numeric_limits<int64_t>::max() / kMicrosPerSecond && age.nanos() >= 0 &&
                    age.nanos() < 1'000'000'000;
  if (!fits) return InvalidArgument("max_age must be at least one millisecond, and a valid duration");
  return GcRule::MaxAge(std::chrono::microseconds(age.seconds() * kMicrosPerSecond + age.nanos() / 1'000));
}

// Reads what GcRule::ToString writes: the library shows a rule's parts in no other way.
//   rule = term { "||" term } | term { "&&" term }      term = "never" | "maxversions=N" | "maxage=NUNIT" | "(" rule ")"
class GcRuleText {
 public:
  explicit GcRuleText(std::string_view text) : rest_(text) {}

  admin_wire::GcRule Rule() {
    admin_wire::GcRule first = Term();
    const std::string_view separator = rest_.substr(0, 2);
    if (separator != "||" && separator != "&&") return first;
    admin_wire::GcRule rule;
    auto* const children = separator == "||" ? rule.mutable_union_()->mutable_rules() : rule.mutable_intersection()->mutable_rules();
    *children->Add() = std::move(first);
    while (Accept(separator)) *children->Add() = Term();
    return rule;
  }

 private:
  bool Accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  int64_t Number() {
    int64_t number = 0;
    const char* const end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number).ptr;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }

  int64_t UnitMicros() {
    if (Accept("ms")) return 1'000;
    if (Accept("us")) return 1;
    if (Accept("d")) return 86'400 * kMicrosPerSecond;
    if (Accept("h")) return 3'600 * kMicrosPerSecond;
    if (Accept("m")) return 60 * kMicrosPerSecond;
    return Accept("s") ? kMicrosPerSecond : 1;
  }

  admin_wire::GcRule Term() {
    admin_wire::GcRule rule;
    if (Accept("(")) {
      rule = Rule();
      Accept(")");
    } else if (Accept("maxversions=")) {
      rule.set_max_num_versions(static_cast<int32_t>(Number()));
    } else if (Accept("maxage=")) {
      const int64_t amount = Number();
      const int64_t micros = amount * UnitMicros();
      rule.mutable_max_age()->set_seconds(micros / kMicrosPerSecond);
      rule.mutable_max_age()->set_nanos(static_cast<int32_t>(micros % kMicrosPerSecond * 1'000));
    } else {
      Accept("never");
    }
    return rule;
  }

  std::string_view rest_;
};

}  // namespace

absl::StatusOr<GcRule> ToGcRule(const admin_wire::GcRule& rule) {
  switch (rule.rule_case()) {
    case admin_wire::GcRule::kMaxNumVersions:
      return GcRule::MaxNumVersions(rule.max_num_versions());
    case admin_wire::GcRule::kMaxAge:
      return ToAge(rule.max_age());
    case admin_wire::GcRule::kIntersection: {
      STELED_ASSIGN_OR_RETURN(std::vector<GcRule> rules, ToGcRules(rule.intersection().rules()));
      return GcRule::Intersection(std::move(rules));
    }
    case admin_wire::GcRule::kUnion: {
      STELED_ASSIGN_OR_RETURN(std::vector<GcRule> rules, ToGcRules(rule.union_().rules()));
      return GcRule::Union(std::move(rules));
    }
    case admin_wire::GcRule::RULE_NOT_SET:
      break;
  }
  return GcRule::None();
}

admin_wire::GcRule ToWireGcRule(const GcRule& rule) {
  const std::string text = rule.ToString();
  return GcRuleText(text).Rule();
}

}  // namespace stele::server
