// lint/finding_text.h: parts of reports that several formats have in common.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "lab/rules/rule.h"

namespace stele::internal::lab {

// The name of a table for people; "(database)" for a finding about all tables.
std::string_view ShownTable(const LintFinding& finding);
// Where in the table, as a compact JSON object: {}, {"segment":1} or {"family":"f"}.
std::string WhereJson(const LintFinding& finding);
// Evidence and advice as one text.
std::string AdviceText(const LintFinding& finding);

// Appends a comma, unless the object or array has just begun, and "NAME":.
void AppendJsonName(std::string_view name, std::string* out);
void AppendJsonText(std::string_view name, std::string_view text, std::string* out);

}  // namespace stele::internal::lab
