// rules/operation_rules.cc: the rules about recorded operations.
#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

constexpr const char* kDivideBatch =
    "Send several mutations of the same row, or load the data with BulkLoad";

void CheckMutationCells(const RuleContext& context) {
  const Offenders& large = context.operations().large_mutations();
  if (large.count == 0) return;
  context.ReportRows(large, static_cast<double>(large.max), context.Parameter("count"),
                     fmt::format("an operation changes {}", Counted(large.max, "cell")),
                     kDivideBatch);
}

void CheckReadTogether(const RuleContext& context) {
  const OperationFacts& facts = context.operations();
  const Schema& schema = *context.table().schema;
  const OperationFacts::FamilySet most = facts.MostReadFamilies();
  const double share = Ratio(most.reads, facts.reads());
  std::set<std::string> names(most.names.begin(), most.names.end());
  if (most.has_all)
    for (const FamilySchema& family : schema.families()) names.insert(family.name);
  if (share <= context.Parameter("share") || names.size() < 2) return;
  const FamilySchema* first = nullptr;
  std::string list;
  for (const std::string& name : names) {
    const FamilySchema* const family = schema.family(name);
    if (family == nullptr) return;
    if (first == nullptr) first = family;
    if (!(family->gc == first->gc) || family->value_type != first->value_type) return;
    list += (list.empty() ? "" : ", ") + InQuotes(name);
  }
  LintFinding& finding = context.ReportOperations(
      share, context.Parameter("share"),
      fmt::format("{} of the reads read the families {}", Percent(share), list),
      "They have the same rules: one family needs fewer files per read");
  finding.count = most.reads;
}

void CheckOverread(const RuleContext& context) {
  const OperationFacts& facts = context.operations();
  if (facts.filtered_reads() == 0) return;
  const double ratio =
      Ratio(facts.filtered_cells_seen(), std::max<uint64_t>(facts.filtered_cells_returned(), 1));
  if (ratio <= context.Parameter("ratio")) return;
  LintFinding& finding = context.ReportOperations(
      ratio, context.Parameter("ratio"),
      fmt::format("reads with a filter examine {} cells per returned cell", RoundedNumber(ratio)),
      "Give the columns that are read a family of their own, or narrow the rows");
  finding.count = facts.filtered_reads();
}

void CheckUnknownColumns(const RuleContext& context) {
  const TableColumns& columns = context.facts().columns();
  const uint64_t rows = context.facts().rows();
  const double mean = Ratio(columns.column_count(), rows);
  const OperationFacts& facts = context.operations();
  if (mean <= context.Parameter("qualifiers") ||
      Ratio(columns.set_count(), rows) <= context.Parameter("sets") ||
      Ratio(facts.unfiltered_reads(), facts.reads()) <= context.Parameter("share"))
    return;
  context.ReportOperations(
      mean, context.Parameter("qualifiers"),
      fmt::format("rows have {} columns on average, nearly all different, and are read whole",
                  RoundedNumber(mean)),
      "If readers do not know the names of columns, one cell with all of them is cheaper");
}

void CheckCounters(const RuleContext& context) {
  for (const auto& [name, column] : context.operations().columns()) {
    const size_t colon = std::min(name.find(':'), name.size());
    const std::string family = name.substr(0, colon);
    const std::string column_name = ShownColumn(name.substr(std::min(colon + 1, name.size())));
    // A name without ':' is no column of a table, and may be personal data.
    const bool has_colon = colon < name.size();
    const std::string shown_family = has_colon ? family : ShownColumn(family);
    const FamilySchema* const schema =
        context.table().schema.has_value() ? context.table().schema->family(family) : nullptr;
    const double share = Ratio(column.increments, column.writes);
    if ((schema != nullptr && schema->value_type != ValueType::kBytes) ||
        static_cast<double>(column.writes) < context.Parameter("ops") ||
        share <= context.Parameter("share"))
      continue;
    LintFinding& finding = context.ReportOperations(
        share, context.Parameter("share"),
        fmt::format("column {}: {} of the writes are increments",
                    InQuotes(shown_family + (has_colon ? ":" : "") + column_name), Percent(share)),
        "A family of type intsum adds without reading: stele createfamily TABLE "
        "FAMILY:never:intsum");
    finding.count = column.writes;
    finding.family = shown_family;
    finding.column = column_name;
  }
}

void CheckBatches(const RuleContext& context) {
  const Offenders& wide = context.operations().wide_batches();
  if (wide.count == 0) return;
  context.ReportRows(wide, static_cast<double>(wide.count), 0,
                     fmt::format("{} with more than one row", Counted(wide.count, "atomic write")),
                     "If the rows must change together, make them one row");
}

void CheckEntityScans(const RuleContext& context) {
  const OperationFacts& facts = context.operations();
  const double share = Ratio(facts.entity_scans(), facts.reads());
  if (share <= context.Parameter("share")) return;
  LintFinding& finding = context.ReportOperations(
      share, context.Parameter("share"),
      fmt::format("{} of the reads are small scans of one prefix", Percent(share)),
      "One row per prefix is read with one get, and written atomically");
  finding.count = facts.entity_scans();
}

void CheckMonotone(const RuleContext& context) {
  const WriteOrder& order = context.operations().write_order();
  if (static_cast<double>(order.rows()) < context.Parameter("keys")) return;
  const double share = order.MonotoneShare();
  const double rho = share >= context.Parameter("share") ? 0 : order.RankCorrelation();
  const bool is_ordered = share >= context.Parameter("share");
  if (!is_ordered && rho < context.Parameter("rho")) return;
  LintFinding& finding = context.ReportOperations(
      is_ordered ? share : rho, context.Parameter(is_ordered ? "share" : "rho"),
      is_ordered
          ? fmt::format("{} of the new rows sort after (or before) all others", Percent(share))
          : fmt::format("new rows arrive in key order (correlation {})", RoundedNumber(rho)),
      "One tablet gets all writes. Begin the key with a part that does not grow");
  finding.count = order.rows();
}

void CheckHotRows(const RuleContext& context) {
  const HotRows& hot = context.operations().hot_rows();
  if (hot.rows().count == 0) return;
  context.ReportRows(hot.rows(), static_cast<double>(hot.largest()),
                     context.Parameter(hot.is_only_sustained() ? "sustained" : "minute"),
                     fmt::format("{} with up to {} in one minute", Counted(hot.rows().count, "row"),
                                 Counted(hot.largest(), "write")),
                     "Divide the row, or collect changes and write them less often");
}

void CheckSuffixQueries(const RuleContext& context) {
  for (const auto& [tag, scans] : context.operations().regex_scans()) {
    const double ratio = Ratio(scans.rows_seen, std::max<uint64_t>(scans.rows_returned, 1));
    if (scans.scans < 10 || ratio <= context.Parameter("ratio")) continue;
    LintFinding& finding = context.ReportOperations(
        ratio, context.Parameter("ratio"),
        fmt::format("scans with row_regex{} examine {} rows per returned row",
                    tag.empty() ? "" : " of " + InQuotes(tag), RoundedNumber(ratio)),
        "The key does not begin with what is asked for. Add a table with another order of parts");
    finding.count = scans.scans;
    return;
  }
}

void CheckFullScans(const RuleContext& context) {
  const OperationFacts& facts = context.operations();
  const double share = Ratio(facts.full_scans(), facts.reads());
  if (share <= context.Parameter("share")) return;
  LintFinding& finding =
      context.ReportOperations(share, context.Parameter("share"),
                               fmt::format("{} of the reads scan the whole table", Percent(share)),
                               "Give scans a range: a start, an end or a prefix");
  finding.count = facts.full_scans();
}

constexpr LintRule::Parameter kMutationMax[] = {{"count", 100000, "cells of one operation"}};
constexpr LintRule::Parameter kReadTogether[] = {{"share", 0.8, "the share of such reads"}};
constexpr LintRule::Parameter kOverread[] = {{"ratio", 4, "cells examined per returned cell"}};
constexpr LintRule::Parameter kUnknownColumns[] = {
    {"qualifiers", 20, "the mean number of columns per row"},
    {"sets", 0.5, "the number of different sets of columns, divided by the number of rows"},
    {"share", 0.8, "the share of reads without a filter"}};
constexpr LintRule::Parameter kCounters[] = {{"ops", 100, "the smallest number of writes"},
                                             {"share", 0.5, "the share of increments"}};
constexpr LintRule::Parameter kEntityScans[] = {{"bytes", 1048576, "larger scans do not count"},
                                                {"share", 0.9, "the share of such scans"}};
constexpr LintRule::Parameter kMonotone[] = {
    {"keys", 100, "the smallest number of new rows"},
    {"share", 0.9, "the share of rows above, or below, all earlier ones"},
    {"rho", 0.9, "the rank correlation of key and arrival"}};
constexpr LintRule::Parameter kHotRows[] = {
    {"minute", 100, "writes of a row in one minute"},
    {"sustained", 60, "writes of a row in each of 3 minutes"}};
constexpr LintRule::Parameter kSuffix[] = {{"ratio", 10, "rows examined per returned row"}};
constexpr LintRule::Parameter kFullScan[] = {{"share", 0.01, "the share of full scans"}};

constexpr RuleSpec kOperationRules[] = {
    {{.id = "SIZE-MUT-MAX",
      .severity = LintSeverity::kError,
      .needs_trace = true,
      .parameters = kMutationMax,
      .summary = "One operation changes more cells than tables allow by default.",
      .explanation = "Such a mutation fails in a table with the default limits.",
      .before = "one mutation of 200,000 cells\n",
      .after = "20 mutations of 10,000 cells\n",
      .on_bigtable = "the same limit of 100,000 changes."},
     CheckMutationCells},
    {{.id = "FAM-COREAD",
      .severity = LintSeverity::kInfo,
      .needs_schema = true,
      .needs_trace = true,
      .needs_min_operations = true,
      .parameters = kReadTogether,
      .summary = "Families with the same rules are read together.",
      .explanation = "Families divide data by retention and by use. If nearly all reads read the\n"
                     "same families, and these have the same rules and types, they divide nothing.",
      .before = "a:name, b:price       each read: a and b\n",
      .after = "a:name, a:price\n",
      .on_bigtable = "the same."},
     CheckReadTogether},
    {{.id = "FAM-OVERREAD",
      .severity = LintSeverity::kInfo,
      .needs_trace = true,
      .needs_min_operations = true,
      .parameters = kOverread,
      .summary = "Reads with a filter examine many cells that they do not return.",
      .explanation = "A filter is applied after the cells were read.",
      .before = "f:name and f:log1 to f:log500, read with column(\"f:name\")\n",
      .after = "f:name, l:log1 to l:log500\n",
      .on_bigtable = "the same."},
     CheckOverread},
    {{.id = "COL-UNKNOWN-QUERY",
      .severity = LintSeverity::kInfo,
      .needs_rows = true,
      .needs_trace = true,
      .needs_min_rows = true,
      .needs_min_operations = true,
      .parameters = kUnknownColumns,
      .summary = "Rows have many different columns, and are read whole.",
      .explanation =
          "Almost every row has columns of its own, so no reader can ask for one by its\n"
          "name. Such columns cost their names in each row, and nobody uses them.",
      .before = "f:a7f3 = 1, f:b901 = 1, ... read without a filter\n",
      .after = "f:all = a7f3,b901,...\n",
      .on_bigtable = "the same."},
     CheckUnknownColumns},
    {{.id = "COL-AGG",
      .severity = LintSeverity::kInfo,
      .needs_trace = true,
      .parameters = kCounters,
      .summary = "A column is mostly incremented, but its family is no aggregate.",
      .explanation = "ReadModifyWriteRow reads the cell first. A cell of an aggregate family is\n"
                     "written without a read.",
      .before = "ReadModifyWriteRow(f:visits, +1)\n",
      .after = "AddToCell(n:visits, 1)      family n of type intsum\n",
      .on_bigtable = "aggregate families exist there, too."},
     CheckCounters},
    {{.id = "ROW-MULTI-ATOMIC",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .summary = "An atomic write changes more than one row.",
      .explanation =
          "A WriteBatch is atomic here. Other services of the same data model write only\n"
          "single rows atomically, so such an application cannot move there.",
      .before = "one WriteBatch: order#7, stock#9\n",
      .after = "one row: order#7 with the columns of both\n",
      .on_bigtable = "only single rows are written atomically."},
     CheckBatches},
    {{.id = "ROW-ENTITY-SPLIT",
      .severity = LintSeverity::kInfo,
      .needs_trace = true,
      .needs_min_operations = true,
      .parameters = kEntityScans,
      .summary = "Nearly all reads are small scans of one prefix.",
      .explanation =
          "The rule counts scans of a prefix that ends with the delimiter and that return\n"
          "two or more rows.",
      .before = "user7#name, user7#mail, user7#city: a scan of user7#\n",
      .after = "user7 with f:name, f:mail, f:city: a get\n",
      .on_bigtable = "the same."},
     CheckEntityScans},
    {{.id = "KEY-MONOTONE",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .parameters = kMonotone,
      .summary = "New rows arrive in key order.",
      .explanation = "All of them go to one tablet. The rule looks at the first write of each row.",
      .before = "000001, 000002, 000003\n",
      .after = "3#000001, 7#000002, 1#000003\n",
      .on_bigtable = "the hot tablet limits writes to those of one node."},
     CheckMonotone},
    {{.id = "KEY-HOT-ROW",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .parameters = kHotRows,
      .summary = "One row gets very many writes.",
      .explanation =
          "Writes of one row are applied one after the other. A row is reported if it has\n"
          "many writes in one minute, or several in each of three minutes in a row.",
      .before = "counter               1,000 writes per minute\n",
      .after = "counter#0 to counter#9   100 writes per minute each\n",
      .on_bigtable = "a row is served by one node, and its changes are replicated in order."},
     CheckHotRows},
    {{.id = "KEY-SUFFIX-QUERY",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .parameters = kSuffix,
      .summary = "Scans with a row regex examine many rows that they do not return.",
      .explanation = "A regex does not narrow the range. The rule adds up the scans of one tag\n"
                     "if there are at least 10.",
      .before = "row_regex(\".*#berlin\") over all rows\n",
      .after = "a second table with keys berlin#...\n",
      .on_bigtable = "the same."},
     CheckSuffixQueries},
    {{.id = "KEY-FULL-SCAN",
      .severity = LintSeverity::kWarning,
      .needs_trace = true,
      .needs_min_operations = true,
      .parameters = kFullScan,
      .summary = "Many reads scan the whole table.",
      .explanation = "A full scan has no bound and no limit, or it examines half of the table's\n"
                     "rows.",
      .before = "scan\n",
      .after = "scan prefix=user7#\n",
      .on_bigtable = "the same; use Data Boost for reports."},
     CheckFullScans},
};

}  // namespace

std::span<const RuleSpec> OperationRules() { return kOperationRules; }

}  // namespace stele::internal::lab
