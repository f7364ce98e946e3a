#include "stele/gc_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ostream>

#include "base/status.h"
#include "model/access.h"
#include "model/gc_rule_node.h"
#include "model/text.h"
#include "model/validate.h"
#include "model/wire_bytes.h"

namespace stele {
namespace internal {
namespace {

using Kind = GcRuleNode::Kind;

struct Unit {
  std::string_view name;
  int64_t micros;
};
constexpr std::array<Unit, 6> kUnits{{{"d", 86'400'000'000},
                                      {"h", 3'600'000'000},
                                      {"m", 60'000'000},
                                      {"s", 1'000'000},
                                      {"ms", 1'000},
                                      {"us", 1}}};

uint64_t AgeWireBytes(int64_t age_micros) {
  const int64_t seconds = age_micros / 1'000'000;
  const int64_t nanos = age_micros % 1'000'000 * 1'000;
  return (seconds == 0 ? 0 : 1 + Int64WireBytes(seconds)) +
         (nanos == 0 ? 0 : 1 + Int64WireBytes(nanos));
}

// Simplifies composites: one without rules keeps everything, one with a single rule is that rule.
// So every rule that can be built can be written as text.
GcRule Compose(Kind kind, std::vector<GcRule> rules) {
  if (rules.empty()) return GcRule();
  if (rules.size() == 1) return std::move(rules.front());
  auto node = std::make_shared<GcRuleNode>();
  node->kind = kind;
  uint64_t content_bytes = 0;
  for (const GcRule& rule : rules) {
    node->depth = std::max(node->depth, internal::Access::Node(rule).depth);
    content_bytes = std::min(
        kWireBytesCap, content_bytes + FieldWireBytes(internal::Access::Node(rule).wire_bytes));
  }
  node->depth += 1;
  node->wire_bytes = FieldWireBytes(content_bytes);
  if (node->depth <= 2 * kGcRuleDepthMax && node->wire_bytes <= 4 * kGcRuleWireBytesMax)
    node->children = std::move(rules);
  return internal::Access::Make<GcRule>(std::move(node));
}

std::string AgeText(int64_t age_micros) {
  for (const Unit& unit : kUnits) {
    if (age_micros % unit.micros == 0)
      return fmt::format("maxage={}{}", age_micros / unit.micros, unit.name);
  }
  return {};  // not reached: the last unit divides every age
}

void AppendText(const GcRuleNode& node, std::string* out) {
  switch (node.kind) {
    case Kind::kNone:
      *out += "never";
      return;
    case Kind::kMaxVersions:
      *out += fmt::format("maxversions={}", node.version_count);
      return;
    case Kind::kMaxAge:
      *out += AgeText(node.age_micros);
      return;
    case Kind::kUnion:
    case Kind::kIntersection:
      break;
  }
  const std::string_view separator = node.kind == Kind::kUnion ? "||" : "&&";
  if (node.children.empty()) *out += fmt::format("({}: too deep or too large)", separator);
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) *out += separator;
    const GcRuleNode& child = internal::Access::Node(node.children[i]);
    const bool parenthesised = !child.children.empty();
    if (parenthesised) out->push_back('(');
    AppendText(child, out);
    if (parenthesised) out->push_back(')');
  }
}

class GcRuleParser {
 public:
  explicit GcRuleParser(std::string_view text) : scanner_(text, "garbage collection rule") {}

  absl::StatusOr<GcRule> Parse() {
    STELE_ASSIGN_OR_RETURN(GcRule rule, Expression());
    if (!scanner_.AtEnd()) return scanner_.Error("expected '||', '&&' or the end");
    return rule;
  }

 private:
  // Parses from left to right. Several operands joined by the same operator become one rule.
  absl::StatusOr<GcRule> Expression() {
    STELE_ASSIGN_OR_RETURN(GcRule first, Term());
    std::vector<GcRule> run;
    run.push_back(std::move(first));
    Kind kind = Kind::kNone;
    while (true) {
      const Kind next = Operator();
      if (next == Kind::kNone) return Compose(kind, std::move(run));
      if (kind != Kind::kNone && next != kind) {
        GcRule left = Compose(kind, std::move(run));
        run.clear();
        run.push_back(std::move(left));
      }
      kind = next;
      STELE_ASSIGN_OR_RETURN(GcRule term, Term());
      run.push_back(std::move(term));
    }
  }

  Kind Operator() {
    if (scanner_.Accept("||") || scanner_.Accept("or")) return Kind::kUnion;
    if (scanner_.Accept("&&") || scanner_.Accept("and")) return Kind::kIntersection;
    return Kind::kNone;
  }

  absl::StatusOr<GcRule> Term() {
    if (scanner_.Accept("(")) {
      if (++open_count_ > kGcRuleDepthMax)
        return scanner_.Error(
            fmt::format("more than {} parentheses inside each other", kGcRuleDepthMax));
      STELE_ASSIGN_OR_RETURN(GcRule rule, Expression());
      STELE_RETURN_IF_ERROR(scanner_.Expect(")"));
      --open_count_;
      return rule;
    }
    const std::string_view word = scanner_.Word();
    if (word == "never") return GcRule();
    if (word != "maxversions" && word != "maxage")
      return scanner_.ErrorAt(word, "expected maxversions=COUNT, maxage=AGE, never or '('");
    STELE_RETURN_IF_ERROR(scanner_.Expect("="));
    return word == "maxversions" ? Versions() : Age();
  }

  absl::StatusOr<GcRule> Versions() {
    STELE_ASSIGN_OR_RETURN(const int64_t count, scanner_.Int64());
    if (count < 1 || count > std::numeric_limits<int32_t>::max())
      return scanner_.Error("maxversions must be 1 to 2147483647");
    return GcRule::MaxNumVersions(static_cast<int>(count));
  }

  absl::StatusOr<GcRule> Age() {
    STELE_ASSIGN_OR_RETURN(const int64_t amount, scanner_.Int64());
    const std::string_view name = scanner_.Word();
    if (name == "ns") return GcRule::MaxAge(std::chrono::microseconds(amount / 1'000));
    for (const Unit& unit : kUnits) {
      if (name != unit.name) continue;
      if (amount < 0 || amount > std::numeric_limits<int64_t>::max() / unit.micros)
        return scanner_.Error("maxage out of range");
      return GcRule::MaxAge(std::chrono::microseconds(amount * unit.micros));
    }
    return scanner_.ErrorAt(name, "an age needs a unit: d, h, m, s, ms, us or ns");
  }

  TextScanner scanner_;
  int open_count_ = 0;
};

}  // namespace
}  // namespace internal

inline namespace v0 {

using internal::GcRuleNode;

GcRule GcRule::None() { return GcRule(); }

GcRule GcRule::MaxNumVersions(int count) {
  auto node = std::make_shared<GcRuleNode>();
  node->kind = GcRuleNode::Kind::kMaxVersions;
  node->version_count = count;
  node->wire_bytes = 1 + internal::Int64WireBytes(count);
  return GcRule(std::move(node));
}

GcRule GcRule::MaxAge(std::chrono::microseconds age) {
  auto node = std::make_shared<GcRuleNode>();
  node->kind = GcRuleNode::Kind::kMaxAge;
  node->age_micros = age.count();
  node->wire_bytes = internal::FieldWireBytes(internal::AgeWireBytes(age.count()));
  return GcRule(std::move(node));
}

GcRule GcRule::Union(std::vector<GcRule> rules) {
  return internal::Compose(GcRuleNode::Kind::kUnion, std::move(rules));
}
GcRule GcRule::Intersection(std::vector<GcRule> rules) {
  return internal::Compose(GcRuleNode::Kind::kIntersection, std::move(rules));
}

absl::StatusOr<GcRule> GcRule::Parse(std::string_view text) {
  STELE_ASSIGN_OR_RETURN(GcRule rule, internal::GcRuleParser(text).Parse());
  STELE_RETURN_IF_ERROR(internal::ValidateGcRule(rule));
  return rule;
}

std::string GcRule::ToString() const {
  std::string out;
  internal::AppendText(node(), &out);
  return out;
}

bool GcRule::operator==(const GcRule& other) const {
  const GcRuleNode& a = node();
  const GcRuleNode& b = internal::Access::Node(other);
  return &a == &b ||
         (a.kind == b.kind && a.version_count == b.version_count && a.age_micros == b.age_micros &&
          a.depth == b.depth && a.wire_bytes == b.wire_bytes && a.children == b.children);
}

const GcRuleNode& GcRule::node() const {
  static const GcRuleNode* const none = new GcRuleNode();
  return node_ == nullptr ? *none : *node_;
}

namespace {
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const GcRuleNode& kEarlyGcRuleNode = internal::Access::Node(GcRule());
}  // namespace

std::ostream& operator<<(std::ostream& out, const GcRule& rule) { return out << rule.ToString(); }

}  // namespace v0
}  // namespace stele
