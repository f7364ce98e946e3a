#include "lab/design/parse_lint.h"

#include <optional>
#include <string>

#include "base/status.h"
#include "lab/values/shown_text.h"
#include "lab/yaml/member_reader.h"

namespace stele::internal::lab {
namespace {

LintIgnore ParseIgnore(const YamlNode& node, DesignErrors* errors) {
  const MemberReader entry(node, "an entry of ignore", {"id", "table", "reason"}, errors);
  entry.Require("id");
  const YamlNode* const reason = entry.Require("reason");
  LintIgnore ignored{.id = entry.Text("id").value_or(""),
                     .table = entry.Text("table").value_or(""),
                     .reason = entry.Text("reason").value_or(""),
                     .mark = node.mark};
  if (reason != nullptr && reason->kind == YamlNode::Kind::kText && ignored.reason.empty())
    errors->Add(reason->mark, "the reason is empty");
  return ignored;
}

}  // namespace

LintSettings ParseLint(const YamlNode& node, DesignErrors* errors) {
  const MemberReader members(node, "lint", {"ignore", "set"}, errors);
  LintSettings settings;
  for (const YamlNode* const element : members.ElementsOf("ignore"))
    settings.ignored.push_back(ParseIgnore(*element, errors));
  for (const YamlNode* const element : members.MembersOf("set")) {
    if (const auto value = TextOfNode(*element, errors))
      settings.parameters.push_back(
          {.name = element->name, .value = *value, .mark = element->name_mark});
  }
  return settings;
}

absl::StatusOr<LintSettings> ParseLintFile(std::string_view text, std::string_view file) {
  DesignErrors errors{ShownText(file)};
  const std::optional<YamlNode> root = ParseYaml(text, &errors);
  LintSettings settings;
  if (root.has_value()) settings = ParseLint(*root, &errors);
  STELE_RETURN_IF_ERROR(errors.ToStatus());
  return settings;
}

}  // namespace stele::internal::lab
