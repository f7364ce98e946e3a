// rules/load_rules.cc: the rules about the distribution of operations over the rows of a table.
#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

constexpr uint64_t kKnownKeysMin = 20;
constexpr uint64_t kMultiGetsMin = 10;

void CheckSkew(const RuleContext& context) {
  const LoadSpread& spread = context.operations().spread();
  if (spread.known_keys() < kKnownKeysMin) return;
  const double ratio = spread.LargestToMean();
  const double gini = spread.Gini();
  const bool has_peak = ratio > context.Parameter("ratio");
  if (!has_peak && gini <= context.Parameter("gini")) return;
  LintFinding& finding = context.ReportOperations(
      has_peak ? ratio : gini, context.Parameter(has_peak ? "ratio" : "gini"),
      has_peak ? fmt::format("the busiest of {} has {} times as many operations as the mean",
                             Counted(spread.bands().size(), "key range"), RoundedNumber(ratio))
               : fmt::format("few of {} have most of the operations (Gini coefficient {})",
                             Counted(spread.bands().size(), "key range"), RoundedNumber(gini)),
      "Begin the key with a part that spreads the load, or cache what is read most");
  context.SetSamples({spread.hottest_key().substr(0, kSampleBytesMax)}, &finding);
  finding.evidence = "the busiest range begins at " + InQuotes(finding.samples.front());
}

void CheckFarRows(const RuleContext& context) {
  const LoadSpread& spread = context.operations().spread();
  if (spread.multi_gets() < kMultiGetsMin) return;
  const double ratio = spread.touched_sum() / static_cast<double>(spread.multi_gets());
  if (ratio <= context.Parameter("ratio")) return;
  LintFinding& finding = context.ReportOperations(
      ratio, context.Parameter("ratio"),
      fmt::format("MultiGets touch {} key ranges per key on average", RoundedNumber(ratio)),
      "Rows that are read together need a common prefix, so that they are in one block");
  finding.count = spread.multi_gets();
}

void CheckPrefixClash(const RuleContext& context) {
  const Offenders clashes = context.table().prefix_scans->Clashes();
  if (clashes.count == 0) return;
  context.ReportRows(
      clashes, static_cast<double>(clashes.count), 0,
      fmt::format("{} of a prefix that also begins longer values", Counted(clashes.count, "scan")),
      "End the prefix with the delimiter, so that user1 does not read user10");
}

constexpr LintRule::Parameter kSkew[] = {
    {"ratio", 20, "operations of the busiest range, divided by the mean"},
    {"gini", 0.8, "the Gini coefficient of the ranges"}};
constexpr LintRule::Parameter kFarRows[] = {{"ratio", 0.5, "touched ranges, divided by keys"}};

constexpr RuleSpec kLoadRules[] = {
    {{.id = "LOAD-SKEW",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .needs_min_operations = true,
      .parameters = kSkew,
      .summary = "A few key ranges have most of the load.",
      .explanation = "The rule divides the keys of the table into at most 1,000 ranges of equal\n"
                     "numbers of keys, and counts the operations in each. Without a table, it\n"
                     "uses the keys of the trace. At least 20 keys are necessary.",
      .before = "config#global         half of all reads\n",
      .after = "the value is cached by the application\n",
      .on_bigtable = "a range that is hotter than one node can serve is the limit of the table."},
     CheckSkew},
    {{.id = "ROW-FAR",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .parameters = kFarRows,
      .summary = "Reads of several rows touch distant key ranges.",
      .explanation = "Each distant row needs a block of its own. The rule divides the known keys\n"
                     "into ranges of at least 64 keys, at least 10 ranges. It looks at MultiGets\n"
                     "of at least 4 keys, if there are at least 10 of them.",
      .before = "0017, 0260, 0511, 0764 in one MultiGet\n",
      .after = "user7#a, user7#b, user7#c, user7#d in one MultiGet\n",
      .on_bigtable = "such a read also waits for the slowest of several nodes."},
     CheckFarRows},
    {{.id = "KEY-PREFIX-CLASH",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .summary = "A prefix scan reads the rows of other values, too.",
      .explanation = "The prefix does not end with the delimiter. Some known keys end after it or\n"
                     "continue with the delimiter, and others continue with a longer value.",
      .before = "scan prefix=user1     reads user1#a and user10#a\n",
      .after = "scan prefix=user1#    reads user1#a\n",
      .on_bigtable = "the same."},
     CheckPrefixClash},
};

}  // namespace

std::span<const RuleSpec> LoadRules() { return kLoadRules; }

}  // namespace stele::internal::lab
