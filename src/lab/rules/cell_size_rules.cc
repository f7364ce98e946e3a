// rules/cell_size_rules.cc: the rules about the sizes of keys, cells and rows.
#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

using Parameter = LintRule::Parameter;

std::string Bytes(uint64_t bytes) { return Counted(bytes, "byte"); }
uint64_t Whole(double number) { return static_cast<uint64_t>(number); }

// A rule that counts the rows above a limit of bytes.
void CheckBytes(const RuleContext& context, const Offenders& rows, std::string_view what,
                std::string_view advice) {
  if (rows.count == 0) return;
  const double limit = context.Parameter("bytes");
  context.ReportRows(
      rows, static_cast<double>(rows.max), limit,
      fmt::format("{} has {}; the limit is {}", what, Bytes(rows.max), Bytes(Whole(limit))),
      std::string(advice));
}

void CheckKeyMax(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().long_keys(), "the longest row key",
             "Shorten the key: move text that is not searched into a cell");
}

void CheckQualifierMax(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().long_qualifiers(), "the longest qualifier",
             "Store the text in the value, and a short name or hash of it in the qualifier");
}

void CheckCellRecommended(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().large_values(), "the largest value",
             "Store large objects as files, or as several cells of at most 10 MB");
}

void CheckCellMax(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().huge_values(), "the largest value",
             "Store large objects as files, or as several cells of at most 10 MB");
}

void CheckRowRecommended(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().large_rows(), "the largest row",
             "Divide the row: append a part of its columns' names to the key");
}

void CheckRowMax(const RuleContext& context) {
  CheckBytes(context, context.facts().sizes().huge_rows(), "the largest row",
             "Divide the row: append a part of its columns' names to the key");
}

void CheckKeyLength(const RuleContext& context) {
  const SizeFacts& sizes = context.facts().sizes();
  const double mean = Ratio(sizes.key_bytes(), sizes.rows());
  const double share = Ratio(sizes.key_bytes(), sizes.bytes());
  constexpr const char* kAdvice =
      "Shorten the parts of the key: codes instead of names, no repeated words";
  if (mean > context.Parameter("mean")) {
    context.Report(mean, context.Parameter("mean"),
                   fmt::format("row keys have {} bytes on average", RoundedNumber(mean)), kAdvice);
  } else if (share > context.Parameter("share") && mean > context.Parameter("floor")) {
    context.Report(share, context.Parameter("share"),
                   fmt::format("row keys are {} of the data, with {} bytes on average",
                               Percent(share), RoundedNumber(mean)),
                   kAdvice);
  }
}

void CheckQualifierLength(const RuleContext& context) {
  const SizeFacts& sizes = context.facts().sizes();
  const double mean = Ratio(sizes.qualifier_bytes(), sizes.cells());
  const double limit = context.Parameter("ratio");
  const double ratio = sizes.value_bytes() == 0
                           ? static_cast<double>(sizes.qualifier_bytes())
                           : Ratio(sizes.qualifier_bytes(), sizes.value_bytes());
  if (ratio <= limit || mean <= context.Parameter("mean")) return;
  context.Report(ratio, limit,
                 fmt::format("qualifiers are {} times as large as values, with {} bytes on average",
                             RoundedNumber(ratio), RoundedNumber(mean)),
                 "Shorten the qualifiers: each cell stores its own");
}

void CheckCellsPerRow(const RuleContext& context) {
  const SizeFacts& sizes = context.facts().sizes();
  const uint64_t p99 = sizes.cells_per_row().Percentile(0.99);
  const uint64_t max = sizes.cells_per_row().max();
  constexpr const char* kAdvice =
      "Limit the versions, or divide the rows: move a part of the qualifier to the key";
  if (static_cast<double>(p99) > context.Parameter("p99")) {
    context.ReportRows(sizes.many_cells(), static_cast<double>(p99), context.Parameter("p99"),
                       fmt::format("1 % of the rows have {} or more", Counted(p99, "cell")),
                       kAdvice);
  } else if (static_cast<double>(max) > context.Parameter("max")) {
    context.ReportRows(sizes.too_many_cells(), static_cast<double>(max), context.Parameter("max"),
                       fmt::format("the largest row has {}", Counted(max, "cell")), kAdvice);
  }
}

void CheckTinyCells(const RuleContext& context) {
  const SizeFacts& sizes = context.facts().sizes();
  const double mean = Ratio(sizes.value_bytes(), sizes.cells());
  const double cells = Ratio(sizes.cells(), sizes.rows());
  if (mean >= context.Parameter("bytes") || cells <= context.Parameter("cells")) return;
  LintFinding& finding = context.Report(
      mean, context.Parameter("bytes"),
      fmt::format("rows have {} cells on average, and values {} bytes", RoundedNumber(cells),
                  RoundedNumber(mean)),
      "Store values that are read together in one cell, for example as JSON or Protocol Buffers");
  finding.evidence = fmt::format("{} of keys, qualifiers and values", Bytes(sizes.bytes()));
  if (const auto disk = context.table().disk_bytes)
    finding.evidence += fmt::format(", {} on disk", Bytes(*disk));
}

constexpr Parameter kKeyMax[] = {{"bytes", 4096, "the longest key"}};
constexpr Parameter kKeyLong[] = {{"mean", 100, "the mean length in bytes"},
                                  {"share", 0.30, "the keys' share of keys, qualifiers and values"},
                                  {"floor", 32, "the share counts above this mean length"}};
constexpr Parameter kQualifierMax[] = {{"bytes", 16384, "the longest qualifier"}};
constexpr Parameter kQualifierLong[] = {{"ratio", 0.5, "bytes of qualifiers to bytes of values"},
                                        {"mean", 16, "the mean length of a qualifier"}};
constexpr Parameter kCellRecommended[] = {{"bytes", 10485760, "the largest value"}};
constexpr Parameter kCellMax[] = {{"bytes", 104857600, "the largest value"}};
constexpr Parameter kRowRecommended[] = {{"bytes", 104857600, "the largest row"}};
constexpr Parameter kRowMax[] = {{"bytes", 268435456, "the largest row"}};
constexpr Parameter kCellsRow[] = {{"p99", 1000, "the 99th percentile"},
                                   {"max", 100000, "the largest number"}};
constexpr Parameter kCellTiny[] = {{"bytes", 16, "the mean length of a value"},
                                   {"cells", 64, "the mean number of cells per row"}};

constexpr RuleSpec kCellSizeRules[] = {
    {{.id = "SIZE-KEY-MAX",
      .severity = LintSeverity::kError,
      .needs_rows = true,
      .parameters = kKeyMax,
      .summary = "A row key is longer than tables allow by default.",
      .explanation = "A write of such a row fails in a table with the default limits.",
      .before = "order#<the whole address, 5,000 bytes>\n",
      .after = "order#4711            f:address = <the address>\n",
      .on_bigtable = "the same limit of 4 KB; it cannot be raised."},
     CheckKeyMax},
    {{.id = "SIZE-KEY-LONG",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kKeyLong,
      .summary = "Row keys are long, or a large share of the data.",
      .explanation = "Every index, cache and comparison handles whole keys. The rule compares\n"
                     "the mean length of keys, and their share of keys, qualifiers and values.",
      .before = "customer-number=0000004711/order-number=0000000815/order-line=01\n",
      .after = "4711#815#01\n",
      .on_bigtable = "the same."},
     CheckKeyLength},
    {{.id = "SIZE-QUAL-MAX",
      .severity = LintSeverity::kError,
      .needs_rows = true,
      .parameters = kQualifierMax,
      .summary = "A qualifier is longer than tables allow by default.",
      .explanation = "A write of such a cell fails in a table with the default limits.",
      .before = "f:<a URL of 20,000 bytes> = 1\n",
      .after = "f:<a hash of the URL> = <the URL>\n",
      .on_bigtable = "the same limit of 16 KB; it cannot be raised."},
     CheckQualifierMax},
    {{.id = "SIZE-QUAL-LONG",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kQualifierLong,
      .summary = "Qualifiers are long compared with the values.",
      .explanation = "Each cell stores its qualifier. The rule compares all stored cells.",
      .before = "f:temperature_in_degrees_celsius = 7.5\n",
      .after = "f:temp = 7.5\n",
      .on_bigtable = "the same."},
     CheckQualifierLength},
    {{.id = "SIZE-CELL-REC",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .parameters = kCellRecommended,
      .summary = "A value is larger than recommended.",
      .explanation = "A read holds a whole value in memory, and a compaction copies it again\n"
                     "and again.",
      .before = "f:video = <80 MB>\n",
      .after = "f:video_path = videos/4711.mp4\n",
      .on_bigtable = "the same recommendation."},
     CheckCellRecommended},
    {{.id = "SIZE-CELL-MAX",
      .severity = LintSeverity::kError,
      .needs_rows = true,
      .parameters = kCellMax,
      .summary = "A value is larger than tables allow by default.",
      .explanation = "A write of such a cell fails in a table with the default limits.",
      .before = "f:video = <800 MB>\n",
      .after = "f:video_path = videos/4711.mp4\n",
      .on_bigtable = "the same limit of 100 MB; it cannot be raised."},
     CheckCellMax},
    {{.id = "SIZE-ROW-REC",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .parameters = kRowRecommended,
      .summary = "A row is larger than recommended.",
      .explanation = "A row is never divided between tablets, and ReadRow returns it as a\n"
                     "whole. The rule adds up the values of all stored versions.",
      .before = "sensor7               f:<each second of the year>\n",
      .after = "sensor7#20230214      f:<each second of the day>\n",
      .on_bigtable = "the same recommendation."},
     CheckRowRecommended},
    {{.id = "SIZE-ROW-MAX",
      .severity = LintSeverity::kError,
      .needs_rows = true,
      .parameters = kRowMax,
      .summary = "A row is larger than one read may return.",
      .explanation = "ReadRow fails for such a row, and only ReadRows streams it. The rule\n"
                     "adds up the values of all stored versions.",
      .before = "sensor7               f:<each second of the year>\n",
      .after = "sensor7#20230214      f:<each second of the day>\n",
      .on_bigtable = "the same limit of 256 MB for a row."},
     CheckRowMax},
    {{.id = "SIZE-CELLS-ROW",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .parameters = kCellsRow,
      .summary = "Rows have very many cells.",
      .explanation = "A read without a filter returns all cells of a row. The rule counts all\n"
                     "stored cells, and uses the 99th percentile and the largest number.",
      .before = "user7                 f:<each of 200,000 visits>\n",
      .after = "user7#20230214        f:<the visits of one day>\n",
      .on_bigtable = "the same."},
     CheckCellsPerRow},
    {{.id = "SIZE-CELL-TINY",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kCellTiny,
      .summary = "Rows consist of very many very small cells.",
      .explanation = "Each cell has a qualifier and a timestamp, which are then most of the data.",
      .before = "user7                 f:a1 = 0, f:a2 = 1, ... f:a99 = 0\n",
      .after = "user7                 f:a = 01...0\n",
      .on_bigtable = "the same."},
     CheckTinyCells},
};

}  // namespace

std::span<const RuleSpec> CellSizeRules() { return kCellSizeRules; }

}  // namespace stele::internal::lab
