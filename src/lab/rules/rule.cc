#include "lab/rules/rule.h"

#include <cmath>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {

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

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string Counted(uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", WithCommas(number), noun, number == 1 ? "" : "s");
}

std::string Percent(double share) { return ShownNumber(std::round(share * 1000) / 10) + " %"; }

std::string ShownNumber(double number) {
  std::string text = fmt::format("{:.4f}", number);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string InQuotes(std::string_view bytes) { return "\"" + internal::Printable(bytes) + "\""; }

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace stele::internal::lab
