#include "lab/rules/rule.h"

#include <utility>

#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kFindingColumns = 64;  // of a key or name in a finding

}  // namespace

LintFinding& RuleCall::Report(double measured, double threshold, std::string message,
                              std::string advice) const {
  LintFinding& finding = findings_.emplace_back();
  finding.id = rule_.id;
  finding.severity = rule_.severity;
  finding.table = table_.name;
  finding.measured = measured;
  finding.threshold = threshold;
  finding.message = std::move(message);
  finding.advice = std::move(advice);
  finding.is_sampled = table_.is_sampled && rule_.needs_rows;
  if (table_.facts != nullptr) finding.count = table_.facts->rows();
  return finding;
}

LintFinding& RuleCall::ReportOperations(double measured, double threshold, std::string message,
                                        std::string advice) const {
  LintFinding& finding = Report(measured, threshold, std::move(message), std::move(advice));
  finding.count = operations().operations();
  return finding;
}

LintFinding& RuleCall::ReportRows(const Offenders& rows, double measured, double threshold,
                                  std::string message, std::string advice) const {
  LintFinding& finding = Report(measured, threshold, std::move(message), std::move(advice));
  finding.count = rows.count;
  finding.samples = rows.samples;
  for (const std::string& sample : rows.samples)
    finding.evidence += (finding.evidence.empty() ? "first: " : ", ") + InQuotes(sample);
  return finding;
}

std::string InQuotes(std::string_view bytes) {
  return "\"" + ShownText(bytes, kFindingColumns) + "\"";
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace stele::internal::lab
