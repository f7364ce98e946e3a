#include "lab/rules/rule_list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

std::vector<RuleSpec> SortedRules() {
  std::vector<RuleSpec> rules;
  for (const auto part : {CellSizeRules(), NameRules(), ColumnRules(), KeyOrderRules(),
                          KeySpreadRules(), KeyTextRules(), OperationRules(), LoadRules()})
    rules.insert(rules.end(), part.begin(), part.end());
  std::sort(rules.begin(), rules.end(),
            [](const RuleSpec& a, const RuleSpec& b) { return a.rule.id < b.rule.id; });
  return rules;
}

// Also those of imports, sorted by id.
std::vector<const LintRule*> AllRules() {
  std::vector<const LintRule*> rules;
  for (const RuleSpec& spec : RuleList()) rules.push_back(&spec.rule);
  for (const LintRule& rule : ItemRules()) rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(),
            [](const LintRule* a, const LintRule* b) { return a->id < b->id; });
  return rules;
}

std::string_view SeverityWord(LintSeverity severity) {
  constexpr std::string_view kWords[] = {"error", "warning", "info"};
  return kWords[static_cast<size_t>(severity)];
}

std::string Indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("    {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string Explanation(const LintRule& rule) {
  std::string out = fmt::format("## {}\n\n{} ({}; {})\n\n{}\n\n", rule.id, rule.summary,
                                SeverityWord(rule.severity), SourcesOf(rule), rule.explanation);
  for (const auto& parameter : rule.parameters)
    out += fmt::format("- `{}.{}` = {}: {}\n", rule.id, parameter.name,
                       ShownNumber(parameter.default_value), parameter.meaning);
  if (rule.needs_min_rows) out += "- `lint.min_rows` = 20: smaller tables are not checked\n";
  if (rule.needs_min_operations)
    out += "- `lint.min_ops` = 100: tables with fewer operations are not checked\n";
  if (!rule.parameters.empty() || rule.needs_min_rows || rule.needs_min_operations) out += '\n';
  out += fmt::format("Before:\n\n{}\nAfter:\n\n{}\nOn Cloud Bigtable: {}\n", Indented(rule.before),
                     Indented(rule.after), rule.on_bigtable);
  return out;
}

}  // namespace

std::span<const RuleSpec> RuleList() {
  static const std::vector<RuleSpec>* const kRules = new std::vector<RuleSpec>(SortedRules());
  return *kRules;
}

const RuleSpec* FindRule(std::string_view id) {
  for (const RuleSpec& spec : RuleList())
    if (spec.rule.id == id) return &spec;
  return nullptr;
}

std::string SourcesOf(const LintRule& rule) {
  std::string sources;
  for (const auto& [is_needed, name] : {std::pair(rule.needs_schema, "a schema"),
                                        {rule.needs_rows, "rows"},
                                        {rule.needs_trace, "a trace"},
                                        {rule.needs_records, "records of a design"}})
    if (is_needed) sources += (sources.empty() ? "" : " and ") + std::string(name);
  return sources.empty() ? "found by import dynamodb, not by lint" : "needs " + sources;
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::span<const LintRule> Rules() {
  static const std::vector<LintRule>* const kRules = [] {
    auto* const rules = new std::vector<LintRule>;
    for (const auto& spec : internal::lab::RuleList()) rules->push_back(spec.rule);
    return rules;
  }();
  return *kRules;
}

absl::StatusOr<std::string> ExplainRule(std::string_view id) {
  if (id == "all") {
    std::string all = "# Rules of stele lint\n";
    for (const LintRule* const rule : internal::lab::AllRules()) {
      all.push_back('\n');
      all.append(internal::lab::Explanation(*rule));
    }
    return all;
  }
  for (const LintRule* const rule : internal::lab::AllRules())
    if (rule->id == id) return internal::lab::Explanation(*rule);
  return internal::InvalidArgument("\"{}\" is not a rule; --explain all lists all rules",
                                   internal::Printable(id));
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
