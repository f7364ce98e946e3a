// rules/key_order_rules.cc: the rules about times and numbers in keys, which decide their order.
#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

void CheckTimeFirst(const RuleContext& context) {
  const FirstSegment& first = context.facts().row_keys().first();
  const double share = Ratio(first.times(), first.rows());
  if (share < context.Parameter("share") || first.times() == 0) return;
  LintFinding& finding = context.Report(
      share, context.Parameter("share"),
      fmt::format("first segment: a time in {} of the keys", Percent(share)),
      "All writes go to the end of the table. Begin the key with what queries ask for, such as a "
      "device or user");
  finding.count = first.times();
  context.SetSamples(context.facts().row_keys().first_keys(), &finding);
}

void CheckReversedTimeFirst(const RuleContext& context) {
  const FirstSegment& first = context.facts().row_keys().first();
  const double share = Ratio(first.reversed_times(), first.rows());
  if (share < context.Parameter("share") || first.reversed_times() == 0) return;
  LintFinding& finding = context.Report(
      share, context.Parameter("share"),
      fmt::format("first segment: a reversed time in {} of the keys", Percent(share)),
      "All writes go to the beginning of the table. Put the reversed time after what queries ask "
      "for, such as a device or user");
  finding.count = first.reversed_times();
  context.SetSamples(context.facts().row_keys().first_keys(), &finding);
}

void CheckSequentialIds(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  const FirstSegment::Numbers& numbers = keys.first().numbers();
  if (keys.plan().is_spread || Ratio(numbers.rows, keys.rows()) < kMostRows ||
      Ratio(keys.first().times(), keys.rows()) >= kMostRows ||
      static_cast<double>(numbers.distinct) < context.min_rows())
    return;
  const double density = Ratio(numbers.distinct, numbers.max - numbers.min + 1);
  if (density < context.Parameter("density")) return;
  LintFinding& finding = context.Report(
      density, context.Parameter("density"),
      fmt::format("first segment: {} cover {} of {}..{}", Counted(numbers.distinct, "number"),
                  Percent(density), numbers.min, numbers.max),
      fmt::format("Reverse their digits: stele key rev-digits --width {} N",
                  keys.positions()[0].order.digits_max()));
  finding.evidence = "the newest ids are the busiest and are all in one tablet";
  finding.count = numbers.rows;
  context.SetSamples(keys.first_keys(), &finding);
}

void CheckUnpadded(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  for (size_t i = 0; i < kSegmentsMax; ++i) {
    const PositionFacts& position = keys.positions()[i];
    if (position.rows == 0 || position.numbers != position.rows) continue;
    const auto inversion = position.order.Find();
    if (!inversion.has_value()) continue;
    const size_t widest = position.order.digits_max();
    LintFinding& finding = context.Report(
        static_cast<double>(widest), static_cast<double>(position.order.digits_min()),
        fmt::format("segment {}: numbers with {} to {} digits sort as text", i + 1,
                    position.order.digits_min(), widest),
        fmt::format("Pad to {} digits: stele key pad {} N, or {{field|pad:{}}} in a design", widest,
                    widest, widest));
    finding.count = position.rows;
    context.SetSamples({inversion->first, inversion->second}, &finding);
    finding.evidence = fmt::format("\"{}\" sorts before \"{}\"", context.ShownKey(inversion->first),
                                   context.ShownKey(inversion->second));
    finding.segment = i + 1;
  }
}

constexpr LintRule::Parameter kTimeFirst[] = {{"share", 0.95, "the share of such keys"}};
constexpr LintRule::Parameter kSequentialIds[] = {
    {"density", 0.5, "different numbers, divided by the length of their range"}};

constexpr RuleSpec kKeyOrderRules[] = {
    {{.id = "KEY-TS-FIRST",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kTimeFirst,
      .summary = "Keys begin with a time.",
      .explanation = "New rows all sort to the end of the table, so one tablet gets all\n"
                     "writes. Times are digits (s, ms, us, ns, yyyymmdd and longer) and ISO dates.",
      .before = "1700000000#sensor7\n",
      .after = "sensor7#1700000000\n",
      .on_bigtable = "the hot tablet limits writes to those of one node."},
     CheckTimeFirst},
    {{.id = "KEY-REVTS-FIRST",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kTimeFirst,
      .summary = "Keys begin with a reversed time.",
      .explanation = "New rows all sort to the beginning of the table, so one tablet gets all\n"
                     "writes. A reversed time is a maximum minus a time: 19 or 13 digits, or 8\n"
                     "for a date.",
      .before = "9223370336854775807#sensor7\n",
      .after = "sensor7#9223370336854775807\n",
      .on_bigtable = "the hot tablet limits writes to those of one node."},
     CheckReversedTimeFirst},
    {{.id = "KEY-SEQ-ID",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kSequentialIds,
      .summary = "Keys begin with sequential numbers.",
      .explanation =
          "The newest numbers are usually the busiest, and they are neighbours.\n"
          "At least 95 % of the first segments are numbers of at most 18 digits, less\n"
          "than 95 % are times, and at least lint.min_rows of the numbers are different.\n"
          "The rule does not apply to keys whose design begins with reversed digits or a\n"
          "bucket.",
      .before = "1000017, 1000018, 1000019\n",
      .after = "7100001, 8100001, 9100001\n",
      .on_bigtable = "the same."},
     CheckSequentialIds},
    {{.id = "KEY-UNPADDED",
      .severity = LintSeverity::kError,
      .needs_rows = true,
      .summary = "Numbers in keys do not sort as numbers.",
      .explanation = "Keys are compared as bytes. The rule reports a segment that is a number of\n"
                     "at most 40 digits in all keys that have it, if a smaller number sorts after\n"
                     "a larger one.",
      .before = "user1#10, user1#9\n",
      .after = "user1#09, user1#10\n",
      .on_bigtable = "the same."},
     CheckUnpadded},
};

}  // namespace

std::span<const RuleSpec> KeyOrderRules() { return kKeyOrderRules; }

}  // namespace stele::internal::lab
