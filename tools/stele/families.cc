#include "families.h"

#include <array>
#include <cstdint>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "model/access.h"
#include "model/gc_rule_node.h"

namespace stele::cli {
namespace {

using internal::GcRuleNode;

std::string AgeText(int64_t micros) {
  constexpr std::array<std::pair<int64_t, char>, 3> kUnits = {
      {{86'400'000'000, 'd'}, {3'600'000'000, 'h'}, {60'000'000, 'm'}}};
  for (const auto& [unit, letter] : kUnits) {
    if (micros % unit == 0) return fmt::format("age() > {}{}", micros / unit, letter);
  }
  return fmt::format("age() > {}", micros);
}

std::string NodeText(const GcRuleNode& node) {
  switch (node.kind) {
    case GcRuleNode::Kind::kNone:
      return "";
    case GcRuleNode::Kind::kMaxVersions:
      return fmt::format("versions() > {}", node.version_count);
    case GcRuleNode::Kind::kMaxAge:
      return AgeText(node.age_micros);
    default:
      break;
  }
  std::string text = "(";
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) text += node.kind == GcRuleNode::Kind::kUnion ? " || " : " && ";
    text += GcRuleText(node.children[i]);
  }
  return text + ")";
}

absl::StatusOr<ValueType> ParseValueType(std::string_view text) {
  if (text == "intsum") return ValueType::kInt64Sum;
  if (text == "intmin") return ValueType::kInt64Min;
  if (text == "intmax") return ValueType::kInt64Max;
  if (text == "inthll") return ValueType::kHll;
  return UsageError(fmt::format("unknown type {}", text));
}

absl::Status ChangeFamily(Session& session, const std::string& table_name,
                          const FamilyChange& change, std::string_view what) {
  auto table = session.OpenTable(Session::Access::kWrite, table_name);
  if (!table.ok()) return Within(what, table.status());
  return Within(what, table->ModifyColumnFamilies({change}));
}

}  // namespace

std::string GcRuleText(const GcRule& rule) { return NodeText(internal::Access::Node(rule)); }

std::string ValueTypeText(ValueType type) {
  const auto aggregate = [](std::string_view how) {
    return fmt::format(R"({{"aggregateType":{{"inputType":{{"int64Type":{{"encoding":)"
                       R"({{"bigEndianBytes":{{}}}}}}}}, "{}":{{}}}}}})",
                       how);
  };
  switch (type) {
    case ValueType::kBytes:
      return "{}";
    case ValueType::kInt64Sum:
      return aggregate("sum");
    case ValueType::kInt64Min:
      return aggregate("min");
    case ValueType::kInt64Max:
      return aggregate("max");
    case ValueType::kHll:
      return aggregate("hllppUniqueCount");
  }
  return "{}";
}

absl::StatusOr<FamilySchema> ParseFamily(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.size() > 3)
    return UsageError(
        fmt::format("bad family \"{}\": must have the form NAME[:GCPOLICY[:TYPE]]", text));
  FamilySchema family{.name = parts[0]};
  if (parts.size() > 1) {
    auto rule = GcRule::Parse(parts[1]);
    if (!rule.ok())
      return UsageError(
          fmt::format("invalid GC policy: {}", internal::ToStd(rule.status().message())));
    family.gc = *std::move(rule);
  }
  if (parts.size() > 2) {
    STELE_ASSIGN_OR_RETURN(family.value_type, ParseValueType(parts[2]));
  }
  return family;
}

absl::Status RunCreateFamily(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 2) return WrongUsage("createfamily");
  STELE_ASSIGN_OR_RETURN(FamilySchema family, ParseFamily(args[1]));
  return ChangeFamily(session, args[0], FamilyChange::Create(std::move(family)),
                      "Creating column family");
}

absl::Status RunDeleteFamily(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 2) return WrongUsage("deletefamily");
  return ChangeFamily(session, args[0], FamilyChange::Drop(args[1]), "Deleting column family");
}

absl::Status RunSetGcPolicy(Session& session, const std::vector<std::string>& args) {
  if (args.size() < 3) return WrongUsage("setgcpolicy");
  // The policy may span several arguments. cbt accepts a final "force", which concerns replicas;
  // Stele ignores it.
  size_t end = args.size();
  if (end > 3 && args.back() == "force") --end;
  std::string text;
  for (size_t i = 2; i < end; ++i) text.append(i == 2 ? "" : " ").append(args[i]);
  auto rule = GcRule::Parse(text);
  if (!rule.ok())
    return UsageError(
        fmt::format("invalid GC policy: {}", internal::ToStd(rule.status().message())));
  return ChangeFamily(session, args[0], FamilyChange::Update(args[1], *std::move(rule)),
                      "Setting GC policy");
}

absl::Status RunSetValueType(Session&, const std::vector<std::string>& args) {
  if (args.size() != 3) return WrongUsage("setvaluetype");
  if (args[2] != "stringutf8bytes")
    return UsageError(fmt::format("Failed to update family value type: unknown type {}", args[2]));
  return internal::InvalidArgument(
      "the value type of family \"{}\" was fixed when the family was created",
      internal::Printable(args[1]));
}

}  // namespace stele::cli
