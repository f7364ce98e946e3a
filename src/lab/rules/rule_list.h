// rules/rule_list.h: all rules.
//
// Threads:   pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lab/rules/rule.h"

namespace stele::internal::lab {

// All rules, sorted by id.
std::span<const RuleSpec> RuleList();
// The rule with this id, or nullptr.
const RuleSpec* FindRule(std::string_view id);

// The rules that `import dynamodb` checks, sorted by id. They are not in RuleList().
std::span<const LintRule> ItemRules();

// Returns the sources that the rule needs as text: "needs a schema and rows".
std::string SourcesOf(const LintRule& rule);

// The parts of RuleList().
std::span<const RuleSpec> CellSizeRules();
std::span<const RuleSpec> NameRules();
std::span<const RuleSpec> ColumnRules();
std::span<const RuleSpec> KeyOrderRules();
std::span<const RuleSpec> KeySpreadRules();
std::span<const RuleSpec> KeyTextRules();
std::span<const RuleSpec> OperationRules();
std::span<const RuleSpec> LoadRules();

}  // namespace stele::internal::lab
