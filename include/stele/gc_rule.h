// stele/gc_rule.h: garbage-collection rules: which versions of a column a family keeps.
//
// Units:     ages in microseconds, at least one millisecond.
// Errors:    builders never fail. The call that uses an invalid rule returns InvalidArgument.
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
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
namespace internal {
struct Access;
struct GcRuleNode;
}  // namespace internal
inline namespace v0 {

// A garbage-collection rule decides which versions of a column are garbage. Cheap to copy.
//
// Reads with ReadOptions.apply_gc (the default) stop returning a version as soon as it becomes
// garbage. A later compaction removes its bytes.
//
// Limits, checked when the rule is used: unions and intersections nest at most 20 deep, and the
// equivalent google.bigtable.admin.v2.GcRule message has at most 500 bytes. A MaxNumVersions takes
// about 2 bytes, a MaxAge about 8, and each level of nesting 2 more.
class [[nodiscard]] GcRule {
 public:
  // The same as None().
  GcRule() = default;

  // Keeps every version.
  static GcRule None();
  // Keeps the newest `count` versions of each column. count >= 1.
  static GcRule MaxNumVersions(int count);
  // Keeps the versions whose timestamp is at most `age` before the database clock's current time.
  // A version with a timestamp in the future is kept. age >= 1 ms.
  static GcRule MaxAge(std::chrono::microseconds age);

  // Under Union, a version is garbage if it is garbage under any of the rules. Under Intersection,
  // it must be garbage under all of them. An empty list equals None(); a single rule equals that
  // rule.
  static GcRule Union(std::vector<GcRule> rules);
  static GcRule Intersection(std::vector<GcRule> rules);
  template <typename... Rules>
  requires(sizeof...(Rules) > 0 && (std::same_as<std::remove_cvref_t<Rules>, GcRule> &&
                                    ...)) static GcRule Union(Rules&&... rules) {
    return Union(std::vector<GcRule>{std::forward<Rules>(rules)...});
  }
  template <typename... Rules>
  requires(sizeof...(Rules) > 0 && (std::same_as<std::remove_cvref_t<Rules>, GcRule> &&
                                    ...)) static GcRule Intersection(Rules&&... rules) {
    return Intersection(std::vector<GcRule>{std::forward<Rules>(rules)...});
  }

  // Parses cbt's text form, for example "maxversions=2||maxage=10d":
  //   rule = term { ("||" | "or" | "&&" | "and") term }
  //   term = "never" | "maxversions" "=" COUNT | "maxage" "=" AGE | "(" rule ")"
  //   AGE  = a whole number and a unit: d, h, m, s, ms, us, ns (ns is truncated to microseconds)
  // White space is ignored. As in cbt, "||" and "&&" have equal precedence and associate to the
  // left: "a||b&&c" means "(a||b)&&c".
  // Errors: InvalidArgument, with the position, for wrong syntax and for an invalid rule.
  [[nodiscard]] static absl::StatusOr<GcRule> Parse(std::string_view text);

  // Returns the text form. Parse(rule.ToString()) equals `rule` for every valid rule.
  std::string ToString() const;

  // Compares the expressions, not their effect: "a||b" differs from "b||a".
  bool operator==(const GcRule& other) const;

 private:
  friend struct internal::Access;

  explicit GcRule(std::shared_ptr<const internal::GcRuleNode> node) : node_(std::move(node)) {}
  const internal::GcRuleNode& node() const;

  std::shared_ptr<const internal::GcRuleNode> node_;  // null: None()
};

std::ostream& operator<<(std::ostream& out, const GcRule& rule);

}  // namespace v0
}  // namespace stele
