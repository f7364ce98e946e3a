// rules/key_text_rules.cc: the rules about the bytes of keys, their delimiter and their contents.
#include <algorithm>

#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

void CheckBinary(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  if (keys.plan().has_binary) return;
  if (keys.control_bytes().count > 0) {
    context.ReportRows(keys.control_bytes(), static_cast<double>(keys.control_bytes().count), 0,
                       fmt::format("{} with control characters or bytes that are not UTF-8",
                                   Counted(keys.control_bytes().count, "key")),
                       "Tools and logs cannot show such keys. Write numbers as padded digits, and "
                       "bytes in hex");
  } else if (keys.beyond_ascii().count > 0) {
    context
        .ReportRows(keys.beyond_ascii(), static_cast<double>(keys.beyond_ascii().count), 0,
                    fmt::format("{} with characters beyond ASCII",
                                Counted(keys.beyond_ascii().count, "key")),
                    "Write each character in one form only: a letter with an accent has several")
        .severity = LintSeverity::kInfo;
  }
}

void CheckDelimiter(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  if (keys.plan().delimiter.empty() || keys.by_segment_count().empty()) return;
  size_t usual = keys.plan().declared_parts;
  if (usual == 0) {
    usual = std::max_element(
                keys.by_segment_count().begin(), keys.by_segment_count().end(),
                [](const auto& a, const auto& b) { return a.second.count < b.second.count; })
                ->first;
  }
  // The samples are the first keys, in key order, with another number of segments.
  Offenders others;
  for (const auto& [number, rows] : keys.by_segment_count()) {
    if (number == usual) continue;
    others.count += rows.count;
    others.samples.insert(others.samples.end(), rows.samples.begin(), rows.samples.end());
  }
  if (others.count == 0) return;
  std::sort(others.samples.begin(), others.samples.end());
  if (others.samples.size() > kFindingSamplesMax) others.samples.resize(kFindingSamplesMax);
  context.ReportRows(
      others, static_cast<double>(others.count), 0,
      fmt::format("{} not split into {} by {}", Counted(others.count, "key"),
                  Counted(usual, "segment"), InQuotes(keys.plan().delimiter)),
      "A value may contain the delimiter. Choose another one, or escape it: stele key "
      "join --escape");
}

void CheckPersonalData(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  constexpr const char* kAdvice =
      "Keys and column names are in logs, traces and metrics. Use an id, and store the data in a "
      "value";
  if (keys.personal().count > 0) {
    const Offenders& rows = keys.personal();
    context.ReportRows(rows, static_cast<double>(rows.count), 0,
                       fmt::format("{} in the key or a column name of {}", keys.personal_kind(),
                                   Counted(rows.count, "row")),
                       kAdvice);
    return;
  }
  for (const PositionFacts& position : keys.positions()) {
    if (!HasCards(position)) continue;
    context.ReportRows(position.cards, static_cast<double>(position.cards.count), 0,
                       fmt::format("a card number in {}", Counted(position.cards.count, "key")),
                       kAdvice);
    return;
  }
}

void CheckSchemaMisses(const RuleContext& context) {
  if (!context.table().key_schema.has_value()) return;
  const Offenders& rows = context.facts().row_keys().schema_misses();
  if (rows.count == 0) return;
  LintFinding& finding = context.ReportRows(
      rows, static_cast<double>(rows.count), 0,
      fmt::format("{} that the row key schema cannot decode", Counted(rows.count, "key")),
      "Encode keys with stele/keys.h or stele key encode, or correct the schema");
  const auto decoded = context.table().key_schema->Decode(rows.samples.front());
  if (!decoded.ok()) finding.evidence = internal::ToStd(decoded.status().message());
}

void CheckDuplicates(const RuleContext& context) {
  const stele::lab::LoadReport::TableCounts& loaded = *context.table().loaded;
  if (loaded.duplicates == 0) return;
  Offenders records{.count = loaded.duplicates, .samples = loaded.duplicate_rows};
  context.ReportRows(
      records, static_cast<double>(loaded.duplicates), 0,
      fmt::format("{} of {} with another value for a cell of an earlier record",
                  Counted(loaded.duplicates, "record"), WithCommas(loaded.records)),
      "The later record replaces the earlier one. Add a field to the key that differs "
      "between them");
}

constexpr RuleSpec kKeyTextRules[] = {
    {{.id = "KEY-BINARY",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .summary = "Keys have bytes that cannot be printed.",
      .explanation = "A warning: a byte below 0x20, 0x7f, or bytes that are not UTF-8. Info:\n"
                     "other characters beyond ASCII. The rule does not apply to a row key\n"
                     "schema with ordered code, bytes or numbers.",
      .before = "user\\x00\\x00\\x12\\x67\n",
      .after = "user#0000004711\n",
      .on_bigtable = "the same."},
     CheckBinary},
    {{.id = "KEY-DELIM",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .summary = "Keys have different numbers of segments.",
      .explanation = "Usually a value contains the delimiter. The rule counts the keys whose\n"
                     "number of segments is not the most frequent one (of equally frequent ones\n"
                     "the smallest), or not that of the key of the table's design.",
      .before = "a#1, b#2, c#3#x\n",
      .after = "a#1, b#2, c#3%23x\n",
      .on_bigtable = "the same."},
     CheckDelimiter},
    {{.id = "KEY-DUP-IMPORT",
      .severity = LintSeverity::kError,
      .needs_records = true,
      .summary = "Records of the input overwrite each other.",
      .explanation = "Two records become the same cell with different values: the same row key,\n"
                     "column and timestamp. The rule counts the later ones. A repeated record\n"
                     "is no duplicate.",
      .before = "key \"{city}\": the records Paris,FR and Paris,US become one row\n",
      .after = "key \"{country}#{city}\": FR#Paris, US#Paris\n",
      .on_bigtable = "the same: a write replaces the cell without an error."},
     CheckDuplicates},
    {{.id = "KEY-PII",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .summary = "Keys or column names contain personal data.",
      .explanation =
          "A segment of the key, or the name of a column or family, is an e-mail address, an\n"
          "IP address, '+' and 8 to 15 digits, or ddd-dd-dddd; or 0.9 of the values of a\n"
          "segment are card numbers. Samples are masked.",
      .before = "ann@example.com#1\n",
      .after = "user4711#1            f:mail = ann@example.com\n",
      .on_bigtable = "keys are also in Key Visualizer and in audit logs."},
     CheckPersonalData},
    {{.id = "KEY-SCHEMA-MISS",
      .severity = LintSeverity::kError,
      .needs_schema = true,
      .needs_rows = true,
      .summary = "Keys do not decode under the declared row key schema.",
      .explanation = "The table's property row_key_schema states typed fields. Queries by\n"
                     "these fields do not find such rows.",
      .before = "a                     under (string, int64)\n",
      .after = "a\\x00\\x01\\x81          the fields \"a\" and 1\n",
      .on_bigtable = "SQL queries fail for such rows."},
     CheckSchemaMisses},
};

}  // namespace

std::span<const RuleSpec> KeyTextRules() { return kKeyTextRules; }

}  // namespace stele::internal::lab
