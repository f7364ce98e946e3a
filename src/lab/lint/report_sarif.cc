// lint/report_sarif.cc: the report in SARIF 2.1.0.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "base/checksum.h"
#include "base/status.h"
#include "lab/lint/finding_text.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

using stele::lab::LintReport;

constexpr std::string_view kSarifSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

std::string_view LevelOf(LintSeverity severity) {
  constexpr std::string_view kLevels[] = {"error", "warning", "note"};
  return kLevels[static_cast<size_t>(severity)];
}

// {"text":"..."}
void AppendMessage(std::string_view name, std::string_view text, std::string* out) {
  AppendJsonName(name, out);
  out->push_back('{');
  AppendJsonText("text", text, out);
  out->push_back('}');
}

void AppendSarifRule(const LintRule& rule, std::string* out) {
  if (out->back() != '[') out->push_back(',');
  out->push_back('{');
  AppendJsonText("id", rule.id, out);
  AppendMessage("shortDescription", rule.summary, out);
  AppendMessage("fullDescription", rule.explanation, out);
  AppendMessage("help",
                fmt::format("Before:\n{}After:\n{}On Cloud Bigtable: {}", rule.before, rule.after,
                            rule.on_bigtable),
                out);
  AppendJsonName("defaultConfiguration", out);
  out->push_back('{');
  AppendJsonText("level", LevelOf(rule.severity), out);
  out->append("}}");
}

// The path as a relative URI; reserved characters become %NN.
std::string UriOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  const std::string relative = error ? path : whole.lexically_relative(here).generic_string();
  std::string uri;
  for (const char c : relative.empty() ? path : relative) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

void AppendLocation(const LintReport& report, const LintFinding& finding, std::string* out) {
  AppendJsonName("locations", out);
  out->append("[{");
  if (!report.source_path.empty() && report.source_path != "-") {
    AppendJsonName("physicalLocation", out);
    out->append("{\"artifactLocation\":{");
    AppendJsonText("uri", UriOf(report.source_path), out);
    out->push_back('}');
    if (finding.line.has_value()) {
      AppendJsonName("region", out);
      out->append(fmt::format("{{\"startLine\":{}}}", *finding.line));
    }
    out->push_back('}');
  }
  AppendJsonName("logicalLocations", out);
  out->append("[{");
  AppendJsonText("name", ShownTable(finding), out);
  AppendJsonText("kind", finding.table.empty() ? "database" : "table", out);
  out->append("}]}]");
}

// Returns what a finding is about. Masked places may be equal, so `seen` counts them.
std::string IdentityOf(const LintFinding& finding, std::map<std::string, int>* seen) {
  std::string identity = finding.id + '\0' + finding.table + '\0' + WhereJson(finding);
  const int earlier = (*seen)[identity]++;
  return earlier == 0 ? identity : identity + '\0' + std::to_string(earlier);
}

void AppendResult(const LintReport& report, const LintFinding& finding,
                  std::map<std::string, int>* seen, std::string* out) {
  if (out->back() != '[') out->push_back(',');
  out->push_back('{');
  AppendJsonText("ruleId", finding.id, out);
  AppendJsonName("ruleIndex", out);
  const auto rule = std::find(report.run.begin(), report.run.end(), finding.id);
  out->append(std::to_string(rule - report.run.begin()));
  AppendJsonText("level", LevelOf(finding.severity), out);
  AppendMessage("message", fmt::format("{}. {}", finding.message, AdviceText(finding)), out);
  AppendLocation(report, finding, out);
  AppendJsonName("partialFingerprints", out);
  out->append("{");
  AppendJsonText("stele/v1", fmt::format("{:016x}", Checksum64(IdentityOf(finding, seen))), out);
  out->append("}");
  if (finding.is_suppressed) {
    AppendJsonName("suppressions", out);
    out->append("[{\"kind\":\"external\"");
    if (!finding.suppression_reason.empty())
      AppendJsonText("justification", finding.suppression_reason, out);
    out->append("}]");
  }
  out->push_back('}');
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string LintReport::ToSarif(std::string_view version) const {
  using internal::lab::AppendJsonText;
  std::string out = "{";
  AppendJsonText("$schema", internal::lab::kSarifSchema, &out);
  AppendJsonText("version", "2.1.0", &out);
  out += ",\"runs\":[{\"tool\":{\"driver\":{";
  AppendJsonText("name", "stele", &out);
  AppendJsonText("version", version, &out);
  out += ",\"rules\":[";
  for (const std::string& id : run)
    internal::lab::AppendSarifRule(internal::lab::FindRule(id)->rule, &out);
  out += "]}},\"results\":[";
  std::map<std::string, int> seen;
  for (const LintFinding& finding : findings)
    internal::lab::AppendResult(*this, finding, &seen, &out);
  return out + "]}]}\n";
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
