#include "lab/rules/rule.h"

#include <algorithm>
#include <utility>

#include "lab/facts/segments.h"
#include "lab/kinds/personal_data.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kFindingColumns = 64;  // of a key or name in a finding
constexpr double kMostCards = 0.9;
// Delimiters that keys may have besides those of their segments, and the bytes between fields in
// ordered code. ':' is the last one, because IPv6 addresses contain it.
constexpr std::string_view kOtherDelimiters{"\0\1#/|:", 6};

// Returns the text with personal data masked: the whole text, or else its parts between these
// delimiters.
std::string WithMaskedParts(std::string_view text, std::string_view delimiters, bool has_cards) {
  if (PersonalDataIn(text) != nullptr || (has_cards && IsCardNumber(text))) return Masked(text);
  if (delimiters.empty()) return std::string(text);
  std::string shown;
  while (true) {
    const size_t end = std::min(text.find(delimiters[0]), text.size());
    shown += WithMaskedParts(text.substr(0, end), delimiters.substr(1), has_cards);
    if (end == text.size()) return shown;
    shown += delimiters[0];
    text.remove_prefix(end + 1);
  }
}

// Returns where the last part of a cut sample begins. It may be a piece of personal data. Returns
// the end if that part is too long for personal data.
size_t CutPart(std::string_view sample, std::string_view delimiter) {
  const std::string_view others = kOtherDelimiters.substr(0, kOtherDelimiters.size() - 1);
  size_t begin = sample.find_last_of(others) + 1;  // 0 if there is none
  const size_t last = delimiter.empty() ? std::string_view::npos : sample.rfind(delimiter);
  if (last != std::string_view::npos) begin = std::max(begin, last + delimiter.size());
  if (sample.size() - begin > kPersonalBytesMax) begin = std::max(begin, sample.rfind(':') + 1);
  return sample.size() - begin > kPersonalBytesMax ? sample.size() : begin;
}

}  // namespace

LintFinding& RuleContext::Report(double measured, double threshold, std::string message,
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

LintFinding& RuleContext::ReportOperations(double measured, double threshold, std::string message,
                                           std::string advice) const {
  LintFinding& finding = Report(measured, threshold, std::move(message), std::move(advice));
  finding.count = operations().operations();
  return finding;
}

LintFinding& RuleContext::ReportRows(const Offenders& rows, double measured, double threshold,
                                     std::string message, std::string advice) const {
  LintFinding& finding = Report(measured, threshold, std::move(message), std::move(advice));
  finding.count = rows.count;
  SetSamples(rows.samples, &finding);
  for (const std::string& sample : finding.samples)
    finding.evidence += (finding.evidence.empty() ? "first: " : ", ") + InQuotes(sample);
  return finding;
}

void RuleContext::SetSamples(const std::vector<std::string>& samples, LintFinding* finding) const {
  finding->samples.clear();
  for (const std::string& sample : samples) {
    std::string shown = ShownKey(sample);
    // Masked samples may be equal.
    if (std::find(finding->samples.begin(), finding->samples.end(), shown) ==
        finding->samples.end())
      finding->samples.push_back(std::move(shown));
  }
}

std::string RuleContext::ShownKey(std::string_view key) const {
  if (!rule_.needs_rows && !rule_.needs_trace && !rule_.needs_records) return std::string(key);
  SegmentPlan plan;
  bool has_cards = false;
  if (table_.facts != nullptr && table_.facts->rows() > 0) {
    const KeyFacts& keys = table_.facts->row_keys();
    plan = keys.plan();
    has_cards = std::any_of(keys.positions().begin(), keys.positions().end(), HasCards);
  } else if (table_.operations != nullptr) {
    plan.delimiter = table_.operations->delimiter();
  }
  // The whole key may be an IPv6 address.
  if (plan.delimiter == ":") plan.delimiter.clear();
  if (key.size() == kSampleBytesMax) {
    const size_t cut = CutPart(key, plan.delimiter);
    if (cut < key.size()) return ShownKey(key.substr(0, cut)) + Masked(key.substr(cut));
  }
  const Segments segments = SplitKey(key, plan);
  std::string shown;
  size_t done = 0;
  for (size_t i = 0; i < segments.examined(); ++i) {
    const std::string_view segment = segments.values[i];
    const auto begin = static_cast<size_t>(segment.data() - key.data());
    shown.append(key.substr(done, begin - done));
    shown += WithMaskedParts(segment, kOtherDelimiters, has_cards);
    done = begin + segment.size();
  }
  return shown + WithMaskedParts(key.substr(done), kOtherDelimiters, has_cards);
}

bool HasCards(const PositionFacts& position) {
  return position.cards.count > 0 && Ratio(position.cards.count, position.fields) >= kMostCards;
}

std::string ShownColumn(std::string_view qualifier) {
  return PersonalDataIn(qualifier) == nullptr ? std::string(qualifier) : Masked(qualifier);
}

std::string InQuotes(std::string_view bytes) {
  return "\"" + ShownText(bytes, kFindingColumns) + "\"";
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace stele::internal::lab
