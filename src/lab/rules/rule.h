// rules/rule.h: a rule of lint, and the input of its check.
//
// Threads:   values; thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/facts/table_facts.h"
#include "lab/rules/parameters.h"
#include "lab/trace/operation_facts.h"
#include "lab/trace/prefix_scans.h"
#include "lab/values/number_text.h"
#include "stele/lab/lint.h"
#include "stele/lab/load.h"
#include "stele/schema.h"

namespace stele::internal::lab {

using stele::lab::LintFinding;
using stele::lab::LintRule;
using stele::lab::LintSeverity;

// A table that is checked.
struct CheckedTable {
  std::string name;
  std::optional<Schema> schema;                  // not set: unknown, as for the keys of a file
  std::optional<keys::RowKeySchema> key_schema;  // the declared layout of row keys
  const TableFacts* facts = nullptr;             // null: the rows were not read
  const OperationFacts* operations = nullptr;    // null: there is no trace of the table
  const PrefixScans* prefix_scans = nullptr;     // not null if `operations` is not
  // The counts of the load of a design's records. Null: the rows do not come from such records.
  const stele::lab::LoadReport::TableCounts* loaded = nullptr;
  std::optional<uint64_t> disk_bytes;
  bool is_sampled = false;
};

// What the check of a rule reads of one table, and where it reports its findings.
class RuleContext {
 public:
  RuleContext(const LintRule& rule, const Parameters& parameters, const CheckedTable& table,
              std::vector<LintFinding>* findings)
      : rule_(rule), parameters_(parameters), table_(table), findings_(*findings) {}

  const CheckedTable& table() const { return table_; }
  // Facts about the rows. Only for rules that need rows.
  const TableFacts& facts() const { return *table_.facts; }
  // The same about operations.
  const OperationFacts& operations() const { return *table_.operations; }
  double Parameter(std::string_view name) const { return parameters_.Get(rule_.id, name); }
  double min_rows() const { return parameters_.Get("lint", "min_rows"); }

  // Adds a finding about this table. The caller fills in the rest.
  LintFinding& Report(double measured, double threshold, std::string message,
                      std::string advice) const;
  // The same about all operations.
  LintFinding& ReportOperations(double measured, double threshold, std::string message,
                                std::string advice) const;
  // The same about the rows that exceed a limit.
  LintFinding& ReportRows(const Offenders& rows, double measured, double threshold,
                          std::string message, std::string advice) const;
  // Sets the samples of a finding, with personal data masked, and without repeated ones. They are
  // keys, or parts of keys.
  void SetSamples(const std::vector<std::string>& samples, LintFinding* finding) const;
  // Returns the key with personal data masked: each segment that KEY-PII recognizes, and each such
  // part between two delimiters. Delimiters are # / : | and the bytes 00 and 01, which separate
  // fields in ordered code. If the rule reads neither rows nor operations, returns the key as it
  // is, because its samples are names.
  std::string ShownKey(std::string_view key) const;

 private:
  const LintRule& rule_;
  const Parameters& parameters_;
  const CheckedTable& table_;
  std::vector<LintFinding>& findings_;
};

// One of the two checks is set.
struct RuleSpec {
  LintRule rule;
  void (*check_table)(const RuleContext& context) = nullptr;
  void (*check_database)(const RuleContext& context,
                         std::span<const CheckedTable> tables) = nullptr;
};

// True if the fields at this position are card numbers.
bool HasCards(const PositionFacts& position);
// The qualifier, or its masked form if it is personal data.
std::string ShownColumn(std::string_view qualifier);
// Bytes in quotes, escaped for people and terminals.
std::string InQuotes(std::string_view bytes);
// The share of rows that counts as all of them.
inline constexpr double kMostRows = 0.95;
double Ratio(uint64_t part, uint64_t whole);  // 0 if `whole` is 0

}  // namespace stele::internal::lab
