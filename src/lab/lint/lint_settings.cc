#include "lab/lint/lint_settings.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/status.h"
#include "lab/design/parse_design.h"
#include "lab/design/parse_lint.h"
#include "lab/rules/rule_list.h"
#include "lab/values/shown_text.h"
#include "lab/yaml/design_errors.h"

namespace stele::internal::lab {
namespace {

absl::Status SetParameter(const LintParameter& parameter, Parameters* parameters) {
  double value = 0;
  const char* const end = parameter.value.data() + parameter.value.size();
  const auto [rest, error] = std::from_chars(parameter.value.data(), end, value);
  if (error != std::errc() || rest != end)
    return InvalidArgument("\"{}\" is not a number", Printable(parameter.value));
  return parameters->Set(parameter.name, value);
}

}  // namespace

void Suppressions::Add(std::string_view rule, std::string_view table, std::string_view reason) {
  reasons_.emplace(std::pair(rule, table), reason);
}

void Suppressions::AddProperty(std::string_view text, const std::string& table) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view id = text.substr(0, comma);
    while (id.starts_with(' ')) id.remove_prefix(1);
    while (id.ends_with(' ')) id.remove_suffix(1);
    Add(id, table, "");
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

void Suppressions::Apply(LintFinding* finding) const {
  for (const std::string& table : {finding->table, std::string()}) {
    const auto reason = reasons_.find({finding->id, table});
    if (reason == reasons_.end()) continue;
    finding->is_suppressed = true;
    if (finding->suppression_reason.empty()) finding->suppression_reason = reason->second;
  }
}

absl::Status ApplySettings(const LintSettings& settings, const std::string& file,
                           const std::vector<std::string>* tables, Parameters* parameters,
                           Suppressions* suppressions) {
  DesignErrors errors{ShownText(file)};
  for (const LintIgnore& ignored : settings.ignored) {
    if (FindRule(ignored.id) == nullptr)
      errors.Add(ignored.mark, fmt::format("\"{}\" is not a rule; stele lint --explain all lists "
                                           "the rules",
                                           Printable(ignored.id)));
    if (tables != nullptr && !ignored.table.empty() &&
        std::find(tables->begin(), tables->end(), ignored.table) == tables->end())
      errors.Add(ignored.mark,
                 fmt::format("the design has no table \"{}\"", Printable(ignored.table)));
    suppressions->Add(ignored.id, ignored.table, ignored.reason);
  }
  for (const LintParameter& parameter : settings.parameters) {
    const absl::Status set = SetParameter(parameter, parameters);
    if (!set.ok()) errors.Add(parameter.mark, ToStd(set.message()));
  }
  return errors.ToStatus();
}

absl::Status ApplyConfigFile(const std::string& path, Parameters* parameters,
                             Suppressions* suppressions) {
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadDesignFile(path));
  STELE_ASSIGN_OR_RETURN(const LintSettings settings, ParseLintFile(text, path));
  return ApplySettings(settings, path, nullptr, parameters, suppressions);
}

}  // namespace stele::internal::lab
