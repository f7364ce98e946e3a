// stele/gc_rule.h: which versions of a column are kept.
//
// Units:     ages in microseconds, at least one millisecond.
// Errors:    builders never fail; a wrong rule is InvalidArgument of the call that uses it. Parse answers InvalidArgument.
// Threads:   immutable value; safe to share.
// Source:    google.bigtable.admin.v2.GcRule; the text form is cbt's (setgcpolicy).
#pragma once

#include <chrono>
#include <concepts>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"

namespace stele {
namespace internal {
struct GcRuleNode;
}
inline namespace v0 {

// A rule says, for each version of a column (newest first), whether it may be dropped. Cheap to copy.
// Versions that a rule condemns are not returned by reads with ReadOptions.apply_gc (the default) from that moment on, and their bytes
// go at some later compaction.
//
// Limits at use: nesting at most 20 unions and intersections deep, and at most 500 bytes, measured as the equal
// google.bigtable.admin.v2.GcRule message would measure (a maxversions about 2 bytes, a maxage about 8, each nesting 2 more).
class GcRule {
 public:
  // Keeps everything, as None().
  GcRule() = default;

  // Keeps everything.
  static GcRule None();
  // Keeps the newest `count` versions of each column. count >= 1, else InvalidArgument at use.
  static GcRule MaxNumVersions(int count);
  // Keeps versions whose timestamp is at most `age` before now. Timestamps in the future never age. age >= 1 ms, else InvalidArgument
  // at use.
  static GcRule MaxAge(std::chrono::microseconds age);

  // Union drops a version that any of the rules drops; Intersection one that all of them drop. Of no rules: nothing is dropped, the
  // same as None(). Of one rule: that rule.
  static GcRule Union(std::vector<GcRule> rules);
  static GcRule Intersection(std::vector<GcRule> rules);
  template <typename... Rules>
  requires(sizeof...(Rules) > 0 && (std::same_as<std::remove_cvref_t<Rules>, GcRule> && ...)) static GcRule Union(Rules&&... rules) {
    return Union(std::vector<GcRule>{std::forward<Rules>(rules)...});
  }
  template <typename... Rules>
  requires(sizeof...(Rules) > 0 && (std::same_as<std::remove_cvref_t<Rules>, GcRule> && ...)) static GcRule Intersection(Rules&&... rules) {
    return Intersection(std::vector<GcRule>{std::forward<Rules>(rules)...});
  }

  // cbt's grammar:
  //   rule = term { ("||" | "or" | "&&" | "and") term }          term = "never" | "maxversions" "=" COUNT | "maxage" "=" AGE | "(" rule ")"
  //   AGE  = a whole number and a unit: d, h, m, s, ms, us, ns (ns is cut to whole microseconds)
  // White space is free. As in cbt "||" and "&&" bind equally and from the left: "a||b&&c" means "(a||b)&&c".
  // Example: "maxversions=2||maxage=10d". Errors: InvalidArgument, with the position, also for a rule that would be refused at use.
  static absl::StatusOr<GcRule> Parse(std::string_view text);
  // Parse(rule.ToString()) equals rule, for every rule that is valid at use.
  std::string ToString() const;

  // The same expression (not merely the same effect: "a||b" differs from "b||a").
  bool operator==(const GcRule& other) const;

  // For the engine.
  explicit GcRule(std::shared_ptr<const internal::GcRuleNode> node) : node_(std::move(node)) {}
  const internal::GcRuleNode& node() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  std::shared_ptr<const internal::GcRuleNode> node_;  // none: keep everything
};

std::ostream& operator<<(std::ostream& out, const GcRule& rule);

}  // namespace v0
}  // namespace stele
