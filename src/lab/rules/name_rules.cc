// rules/name_rules.cc: the rules about the names and numbers of tables and families.
#include <algorithm>
#include <set>

#include "base/status.h"
#include "lab/kinds/similar_names.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

void CheckFamilyNames(const RuleContext& context) {
  Offenders names;
  for (const FamilySchema& family : context.table().schema->families())
    names.Check(family.name.size(), context.Parameter("bytes"), family.name);
  if (names.count == 0) return;
  context.ReportRows(names, static_cast<double>(names.max), context.Parameter("bytes"),
                     fmt::format("{} with more than {} bytes", Counted(names.count, "family name"),
                                 ShownNumber(context.Parameter("bytes"))),
                     "Choose one or two letters: every result repeats the name");
}

void CheckFamilyCount(const RuleContext& context) {
  const size_t count = context.table().schema->families().size();
  if (static_cast<double>(count) <= context.Parameter("count")) return;
  LintFinding& finding =
      context.Report(static_cast<double>(count), context.Parameter("count"),
                     fmt::format("the table has {} families", WithCommas(count)),
                     "Use columns of one family for data with the same retention");
  finding.count = count;
}

void CheckTableCount(const RuleContext& context, std::span<const CheckedTable> tables) {
  if (static_cast<double>(tables.size()) <= context.Parameter("count")) return;
  LintFinding& finding =
      context.Report(static_cast<double>(tables.size()), context.Parameter("count"),
                     fmt::format("{} in one database", Counted(tables.size(), "table")),
                     "Store data of the same kind in one table, with a prefix in the key");
  finding.count = tables.size();
}

void CheckTableNames(const RuleContext& context, std::span<const CheckedTable> tables) {
  std::vector<NamedTable> named;
  for (const CheckedTable& table : tables) {
    if (!table.schema.has_value()) continue;
    named.push_back({.name = table.name, .families = {}});
    for (const FamilySchema& family : table.schema->families())
      named.back().families.push_back(family.name);
  }
  std::set<std::string> reported;
  for (std::set<std::string> names : SimilarTables(named)) {
    for (const std::string& name : reported) names.erase(name);
    if (static_cast<double>(names.size()) < context.Parameter("count") || names.size() < 2)
      continue;
    LintFinding& finding = context.Report(
        static_cast<double>(names.size()), context.Parameter("count"),
        fmt::format("{} tables have the same families and similar names", WithCommas(names.size())),
        "Store the rows in one table, and what the names differ in as a part of the key");
    finding.table = *names.begin();
    finding.count = names.size();
    for (const std::string& name : names) {
      if (finding.samples.size() == kFindingSamplesMax) break;
      finding.samples.push_back(name);
      finding.evidence += (finding.evidence.empty() ? "" : ", ") + InQuotes(name);
    }
    reported.merge(names);
  }
}

constexpr LintRule::Parameter kFamilyName[] = {{"bytes", 8, "the longest name"}};
constexpr LintRule::Parameter kFamilyCount[] = {{"count", 100, "the largest number of families"}};
constexpr LintRule::Parameter kTableCount[] = {{"count", 1000, "the largest number of tables"}};
constexpr LintRule::Parameter kSimilarTables[] = {{"count", 3, "so many tables are reported"}};

constexpr RuleSpec kNameRules[] = {
    {{.id = "SIZE-FAM-NAME",
      .severity = LintSeverity::kWarning,
      .needs_schema = true,
      .parameters = kFamilyName,
      .summary = "The name of a column family is long.",
      .explanation = "Results and exports repeat the name for each cell.",
      .before = "temperature\n",
      .after = "t\n",
      .on_bigtable = "the name is also sent with each cell."},
     CheckFamilyNames},
    {{.id = "SIZE-FAM-COUNT",
      .severity = LintSeverity::kWarning,
      .needs_schema = true,
      .parameters = kFamilyCount,
      .summary = "A table has very many column families.",
      .explanation = "Families divide data by retention and type. Columns need no schema.",
      .before = "families: user1, user2, ... user200\n",
      .after = "families: u            columns: u:1, u:2, ... u:200\n",
      .on_bigtable = "about 100 families per table are recommended, too."},
     CheckFamilyCount},
    {{.id = "SIZE-TABLES-MAX",
      .severity = LintSeverity::kError,
      .needs_schema = true,
      .parameters = kTableCount,
      .summary = "There are more tables than an instance may have.",
      .explanation = "Each table has its own memtables and files.",
      .before = "orders_customer1, orders_customer2, ... orders_customer5000\n",
      .after = "orders                with keys customer1#...\n",
      .on_bigtable = "an instance has at most 1,000 tables."},
     nullptr,
     CheckTableCount},
    {{.id = "SIZE-TABLES-MANY",
      .severity = LintSeverity::kWarning,
      .needs_schema = true,
      .parameters = kSimilarTables,
      .summary = "Several tables have the same families and similar names.",
      .explanation = "Names are similar if they differ only in digits, and in at most one of two\n"
                     "or more parts that _ - and dots separate. Such tables are usually one table\n"
                     "whose key lacks that part. Age rules remove old data without separate\n"
                     "tables.",
      .before = "events_2023_01, events_2023_02, events_2023_03\n",
      .after = "events                with keys ...#20230214\n",
      .on_bigtable = "the same. Small tables are also balanced less well."},
     nullptr,
     CheckTableNames},
};

}  // namespace

std::span<const RuleSpec> NameRules() { return kNameRules; }

}  // namespace stele::internal::lab
