// rules/column_rules.cc: the rules about versions of columns, GC rules, and qualifiers that are
// data.
#include <algorithm>
#include <vector>

#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

uint64_t VersionsP95(const ColumnFacts& column) { return column.versions.Percentile(0.95); }

// Returns the columns in at least `rows_min` rows, sorted by their versions, and by name if these
// are equal.
std::vector<const ColumnFacts*> ColumnsByVersions(const FamilyFacts& family, double rows_min) {
  std::vector<const ColumnFacts*> columns;
  for (const auto& [hash, column] : family.columns)
    if (static_cast<double>(column.rows) >= rows_min) columns.push_back(&column);
  std::sort(columns.begin(), columns.end(), [](const ColumnFacts* a, const ColumnFacts* b) {
    const uint64_t a_versions = VersionsP95(*a);
    const uint64_t b_versions = VersionsP95(*b);
    return a_versions != b_versions ? a_versions < b_versions : a->qualifier < b->qualifier;
  });
  return columns;
}

void CheckRetention(const RuleContext& context) {
  for (const auto& [name, family] : context.facts().columns().families()) {
    const std::vector<const ColumnFacts*> columns =
        ColumnsByVersions(family, context.Parameter("rows"));
    if (columns.size() < 2) continue;
    const ColumnFacts& least = *columns.front();
    const ColumnFacts& most = *columns.back();
    const double ratio = Ratio(VersionsP95(most), VersionsP95(least));
    if (ratio < context.Parameter("ratio")) continue;
    LintFinding& finding = context.Report(
        ratio, context.Parameter("ratio"),
        fmt::format("family {}: {} has {} per row, {} has {}", InQuotes(name),
                    InQuotes(ShownColumn(most.qualifier)), Counted(VersionsP95(most), "version"),
                    InQuotes(ShownColumn(least.qualifier)), WithCommas(VersionsP95(least))),
        "Give columns with other retention a family of their own, with its own rule");
    finding.family = name;
    finding.count = std::min(most.rows, least.rows);
  }
}

void CheckNoGc(const RuleContext& context) {
  for (const auto& [name, family] : context.facts().columns().families()) {
    const FamilySchema* const schema = context.table().schema->family(name);
    if (schema == nullptr || !(schema->gc == GcRule::None())) continue;
    const uint64_t p99 = family.versions.Percentile(0.99);
    if (static_cast<double>(p99) <= context.Parameter("p99")) continue;
    LintFinding& finding =
        context.ReportRows(family.many_versions, static_cast<double>(p99), context.Parameter("p99"),
                           fmt::format("family {} has no GC rule, and columns have up to {}",
                                       InQuotes(name), Counted(p99, "version")),
                           "Set a rule, for example: stele setgcpolicy TABLE FAMILY maxversions=1");
    finding.family = name;
  }
}

void CheckColumnsAsData(const RuleContext& context) {
  const TableFacts& facts = context.facts();
  const KeyFacts& keys = facts.row_keys();
  const CountHistogram& prefixes = keys.prefix_rows();
  const uint64_t median = prefixes.Percentile(0.5);
  const double row_bytes = Ratio(facts.sizes().bytes(), facts.sizes().rows());
  if (Ratio(keys.rows_with_parts(), keys.rows()) < kMostRows ||
      Ratio(keys.last_times(), keys.rows()) >= kMostRows ||
      static_cast<double>(prefixes.count()) < context.Parameter("prefixes") || median < 2 ||
      median > 1000 || Ratio(facts.columns().largest_set_rows(), keys.rows()) < kMostRows ||
      row_bytes >= context.Parameter("bytes"))
    return;
  LintFinding& finding = context.Report(
      static_cast<double>(prefixes.count()), context.Parameter("prefixes"),
      fmt::format("{} key prefixes have {} each (median) with the same columns",
                  WithCommas(prefixes.count()), Counted(median, "row")),
      "One row per prefix, with the last part of the key as the qualifier, is read and written "
      "atomically");
  context.SetSamples(keys.first_keys(), &finding);
}

constexpr LintRule::Parameter kRetention[] = {{"rows", 20, "columns in fewer rows do not count"},
                                              {"ratio", 10, "the ratio of the 95th percentiles"}};
constexpr LintRule::Parameter kNoGc[] = {{"p99", 10, "the 99th percentile of versions"}};
constexpr LintRule::Parameter kColumnsAsData[] = {
    {"prefixes", 10, "the smallest number of prefixes"},
    {"bytes", 1024, "larger rows (on average) are not reported"}};

constexpr RuleSpec kColumnRules[] = {
    {{.id = "FAM-RETENTION",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .parameters = kRetention,
      .summary = "Columns of one family have very different numbers of versions.",
      .explanation = "A GC rule applies to a family. The rule compares the 95th percentile of\n"
                     "versions per row between the columns of a family.",
      .before = "f:name 1 version, f:position 500 versions\n",
      .after = "f:name 1 version (maxversions=1), p:position 500 versions (maxage=30d)\n",
      .on_bigtable = "the same."},
     CheckRetention},
    {{.id = "FAM-NO-GC",
      .severity = LintSeverity::kWarning,
      .needs_schema = true,
      .needs_rows = true,
      .parameters = kNoGc,
      .summary = "A family without a GC rule keeps many versions.",
      .explanation = "Without a rule, every version is kept, and reads return all of them.\n"
                     "The rule uses the 99th percentile of versions per row and column.",
      .before = "family f, never: f:state has 11 versions\n",
      .after = "family f, maxversions=1: f:state has 1 version\n",
      .on_bigtable = "some clients create families with one version by default; the service\n"
                     "itself keeps all."},
     CheckNoGc},
    {{.id = "COL-AS-DATA",
      .severity = LintSeverity::kInfo,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kColumnsAsData,
      .summary = "Small rows with a common prefix could be columns of one row.",
      .explanation =
          "A qualifier may be data: the last segment of the key can become one. The rule\n"
          "reports keys of two or more segments, unless the last one is a time. The\n"
          "median of the rows per prefix is 2 to 1,000, and at least 95 % of the rows have the\n"
          "same columns.",
      .before = "user7#friend1 f:since = 2019\nuser7#friend2 f:since = 2021\n",
      .after = "user7         since:friend1 = 2019, since:friend2 = 2021\n",
      .on_bigtable = "the same. There, only one row can be written atomically."},
     CheckColumnsAsData},
};

}  // namespace

std::span<const RuleSpec> ColumnRules() { return kColumnRules; }

}  // namespace stele::internal::lab
