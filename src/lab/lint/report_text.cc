// lint/report_text.cc: the report as text and as JSON.
#include <algorithm>
#include <vector>

#include "base/status.h"
#include "keys/utf8.h"
#include "lab/lint/finding_text.h"
#include "lab/values/base64.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::LintReport;

constexpr std::string_view kSeverities[] = {"error", "warning", "info"};

std::string_view SeverityName(LintSeverity severity) {
  return kSeverities[static_cast<size_t>(severity)];
}

void AppendCount(std::string_view name, uint64_t number, std::string* out) {
  AppendJsonName(name, out);
  out->append(std::to_string(number));
}

void AppendFlag(std::string_view name, bool is_set, std::string* out) {
  AppendJsonName(name, out);
  out->append(is_set ? "true" : "false");
}

// Appends "NAME":[...]
void AppendTextList(std::string_view name, const std::vector<std::string>& texts,
                    std::string* out) {
  AppendJsonName(name, out);
  out->push_back('[');
  for (const std::string& text : texts) {
    if (out->back() != '[') out->push_back(',');
    AppendShownJson(text, out);
  }
  out->push_back(']');
}

// The whole list is base64 if a sample is not UTF-8.
void AppendSamples(const std::vector<std::string>& samples, std::string* out) {
  const bool is_text = std::none_of(samples.begin(), samples.end(), [](const std::string& text) {
    return FirstNotUtf8(text).has_value();
  });
  AppendJsonName(is_text ? "samples" : "samples_base64", out);
  out->push_back('[');
  for (const std::string& sample : samples) {
    if (out->back() != '[') out->push_back(',');
    if (is_text) {
      AppendShownJson(sample, out);
    } else {
      out->push_back('"');
      AppendBase64(sample, out);
      out->push_back('"');
    }
  }
  out->push_back(']');
}

void AppendFinding(const LintFinding& finding, std::string* out) {
  if (out->back() != '[') out->push_back(',');
  out->push_back('{');
  AppendJsonText("id", finding.id, out);
  AppendJsonText("severity", SeverityName(finding.severity), out);
  AppendJsonText("table", finding.table, out);
  AppendJsonName("measured", out);
  out->append(ShownNumber(finding.measured));
  AppendJsonName("threshold", out);
  out->append(ShownNumber(finding.threshold));
  AppendCount("count", finding.count, out);
  AppendJsonText("message", finding.message, out);
  AppendJsonText("advice", finding.advice, out);
  AppendSamples(finding.samples, out);
  AppendJsonName("where", out);
  out->append(WhereJson(finding));
  AppendFlag("suppressed", finding.is_suppressed, out);
  if (!finding.suppression_reason.empty())
    AppendJsonText("reason", finding.suppression_reason, out);
  if (finding.is_sampled) AppendFlag("sampled", true, out);
  out->push_back('}');
}

void AppendTableCounts(const LintReport& report, std::string* out) {
  AppendJsonName("tables", out);
  out->push_back('{');
  for (const auto& [name, counts] : report.tables) {
    AppendJsonName(name, out);
    out->push_back('{');
    AppendCount("rows", counts.rows, out);
    AppendCount("cells", counts.cells, out);
    AppendCount("bytes", counts.bytes, out);
    if (counts.is_sampled) AppendFlag("sampled", true, out);
    out->push_back('}');
  }
  out->push_back('}');
}

std::string SummaryLine(const LintReport& report) {
  return fmt::format("{}, {}, {}\n", Counted(report.Count(LintSeverity::kError), "error"),
                     Counted(report.Count(LintSeverity::kWarning), "warning"),
                     Counted(report.Count(LintSeverity::kInfo), "note"));
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string LintReport::ToText() const {
  using internal::lab::ShownTable;
  size_t table_width = 0;
  size_t id_width = 0;
  for (const LintFinding& finding : findings) {
    if (finding.is_suppressed) continue;
    table_width = std::max(table_width, ShownTable(finding).size());
    id_width = std::max(id_width, finding.id.size());
  }
  std::string out;
  for (const LintFinding& finding : findings) {
    if (finding.is_suppressed) continue;
    out += fmt::format("{:<{}}  {:<7}  {:<{}}  {}{}\n     {}\n", ShownTable(finding), table_width,
                       internal::lab::SeverityName(finding.severity), finding.id, id_width,
                       finding.message, finding.is_sampled ? " (in a sample)" : "",
                       internal::lab::AdviceText(finding));
  }
  if (skipped_lines > 0)
    out += fmt::format("{} or damaged block{} of the trace skipped\n",
                       internal::lab::Counted(skipped_lines, "wrong line"),
                       skipped_lines == 1 ? "" : "s");
  for (const std::string& note : notes) out.append(note).append("\n");
  return out + internal::lab::SummaryLine(*this);
}

std::string LintReport::ToJson() const {
  using internal::lab::AppendJsonName;
  std::string out = "{\"lint\":1";
  internal::lab::AppendTableCounts(*this, &out);
  internal::lab::AppendTextList("not_run", not_run, &out);
  if (!notes.empty()) internal::lab::AppendTextList("notes", notes, &out);
  if (skipped_lines > 0) internal::lab::AppendCount("skipped_lines", skipped_lines, &out);
  AppendJsonName("findings", &out);
  out += '[';
  for (const LintFinding& finding : findings) internal::lab::AppendFinding(finding, &out);
  out += ']';
  AppendJsonName("summary", &out);
  out += '{';
  internal::lab::AppendCount("error", Count(LintSeverity::kError), &out);
  internal::lab::AppendCount("warning", Count(LintSeverity::kWarning), &out);
  internal::lab::AppendCount("info", Count(LintSeverity::kInfo), &out);
  internal::lab::AppendCount("suppressed",
                             static_cast<uint64_t>(std::count_if(
                                 findings.begin(), findings.end(),
                                 [](const LintFinding& finding) { return finding.is_suppressed; })),
                             &out);
  return out + "}}\n";
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
