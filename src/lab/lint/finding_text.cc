#include "lab/lint/finding_text.h"

#include "base/status.h"
#include "keys/utf8.h"
#include "lab/values/base64.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kOfAllTables = "(database)";

}  // namespace

std::string_view ShownTable(const LintFinding& finding) {
  return finding.table.empty() ? kOfAllTables : std::string_view(finding.table);
}

void AppendJsonName(std::string_view name, std::string* out) {
  if (out->back() != '{' && out->back() != '[') out->push_back(',');
  AppendShownJson(name, out);
  out->push_back(':');
}

// Bytes that are not UTF-8 are base64 under NAME_base64.
void AppendJsonText(std::string_view name, std::string_view text, std::string* out) {
  if (!FirstNotUtf8(text).has_value()) {
    AppendJsonName(name, out);
    AppendShownJson(text, out);
    return;
  }
  AppendJsonName(std::string(name) + "_base64", out);
  out->push_back('"');
  AppendBase64(text, out);
  out->push_back('"');
}

std::string WhereJson(const LintFinding& finding) {
  std::string out = "{";
  if (finding.segment.has_value()) {
    AppendJsonName("segment", &out);
    out += std::to_string(*finding.segment);
  }
  if (!finding.family.empty()) AppendJsonText("family", finding.family, &out);
  if (finding.column.has_value()) AppendJsonText("column", *finding.column, &out);
  return out + "}";
}

std::string AdviceText(const LintFinding& finding) {
  if (finding.evidence.empty()) return finding.advice;
  return fmt::format("{}. {}", finding.evidence, finding.advice);
}

}  // namespace stele::internal::lab
