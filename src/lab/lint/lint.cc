// lint/lint.cc: reads the sources, runs the rules, and sorts the findings.
#include "stele/lab/lint.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "lab/lint/table_reader.h"
#include "lab/rules/rule_list.h"
#include "lab/staging/row_files.h"
#include "lab/trace/operation_facts.h"
#include "lab/trace/trace_reader.h"

namespace stele::internal::lab {
namespace {

using stele::lab::LintInput;
using stele::lab::LintOptions;
using stele::lab::LintReport;

constexpr std::string_view kStagedName = "t";
constexpr std::string_view kIgnoreProperty = "lint.ignore";
constexpr size_t kTraceTablesMax = 10'000;

ReadPlan PlanOf(const LintOptions& options, const Parameters& parameters) {
  ReadPlan plan{.versions_max = parameters.Get("FAM-NO-GC", "p99"),
                .delimiter = options.delimiter,
                .sample_rows = options.sample_rows,
                .progress = options.progress};
  plan.limits = {.key_bytes = parameters.Get("SIZE-KEY-MAX", "bytes"),
                 .qualifier_bytes = parameters.Get("SIZE-QUAL-MAX", "bytes"),
                 .recommended_value_bytes = parameters.Get("SIZE-CELL-REC", "bytes"),
                 .value_bytes = parameters.Get("SIZE-CELL-MAX", "bytes"),
                 .recommended_row_bytes = parameters.Get("SIZE-ROW-REC", "bytes"),
                 .row_bytes = parameters.Get("SIZE-ROW-MAX", "bytes"),
                 .cells_p99 = parameters.Get("SIZE-CELLS-ROW", "p99"),
                 .cells_max = parameters.Get("SIZE-CELLS-ROW", "max")};
  return plan;
}

// One call of Lint().
class LintRun {
 public:
  LintRun(const LintInput& input, const LintOptions& options) : input_(input), options_(options) {}

  absl::StatusOr<LintReport> Run() {
    STELE_RETURN_IF_ERROR(CheckOptions());
    const bool has_file = !input_.keys_path.empty() || !input_.rows_path.empty();
    const bool has_database = !has_file && (input_.trace_paths.empty() || HasDatabase());
    has_schema_ = has_database;
    has_rows_ = has_file || has_database;
    ChooseRules();
    STELE_RETURN_IF_ERROR(ReadTraceTables());
    STELE_RETURN_IF_ERROR(has_file       ? CheckFile()
                          : has_database ? CheckDatabase()
                                         : CheckTraceTables());
    RemoveExcusedFindings();
    SortFindings();
    return std::move(report_);
  }

 private:
  absl::Status CheckOptions() {
    const bool has_file = !input_.keys_path.empty() || !input_.rows_path.empty();
    if (!input_.keys_path.empty() && !input_.rows_path.empty())
      return internal::InvalidArgument("a file of keys and a file of rows exclude each other");
    if (has_file && !input_.tables.empty())
      return internal::InvalidArgument("the rows of a file have no tables to choose from");
    for (const auto* const list : {&options_.only, &options_.skip})
      for (const std::string& id : *list)
        if (FindRule(id) == nullptr)
          return internal::InvalidArgument("\"{}\" is not a rule", internal::Printable(id));
    for (const auto& [name, value] : options_.parameters)
      STELE_RETURN_IF_ERROR(parameters_.Set(name, value));
    return absl::OkStatus();
  }

  // True unless the handle is empty. A database that fails is an error, and not a missing one.
  bool HasDatabase() const {
    return input_.database.ListTables().status().code() != absl::StatusCode::kFailedPrecondition;
  }

  void ChooseRules() {
    for (const RuleSpec& spec : RuleList()) {
      const bool is_chosen = options_.only.empty() ||
                             std::find(options_.only.begin(), options_.only.end(), spec.rule.id) !=
                                 options_.only.end();
      if (is_chosen && (has_schema_ || !spec.rule.needs_schema) &&
          (has_rows_ || !spec.rule.needs_rows) &&
          (!input_.trace_paths.empty() || !spec.rule.needs_trace)) {
        rules_.push_back(&spec);
        report_.run.emplace_back(spec.rule.id);
        // Rules about operations know the delimiter and the number of rows from the rows.
        needs_rows_ = needs_rows_ || spec.rule.needs_rows || (has_rows_ && spec.rule.needs_trace);
      } else {
        report_.not_run.emplace_back(spec.rule.id);
      }
    }
  }

  absl::Status CheckDatabase() {
    std::vector<std::string> names = input_.tables;
    if (names.empty()) {
      STELE_ASSIGN_OR_RETURN(names, input_.database.ListTables());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    // Missing tables are an error before the first row is read.
    std::vector<Table> tables;
    for (const std::string& name : names) {
      STELE_ASSIGN_OR_RETURN(Table table, input_.database.OpenTable(name));
      STELE_ASSIGN_OR_RETURN(Schema schema, table.schema());
      CheckedTable& checked = tables_.emplace_back();
      checked.name = name;
      AddIgnored(schema, name);
      checked.schema = std::move(schema);
      tables.push_back(std::move(table));
    }
    for (size_t i = 0; i < tables.size(); ++i)
      STELE_RETURN_IF_ERROR(CheckTable(input_.database, tables[i], &tables_[i]));
    CheckedTable whole;
    for (const RuleSpec* const spec : rules_) {
      if (spec->check_database == nullptr) continue;
      spec->check_database(RuleCall(spec->rule, parameters_, whole, &report_.findings), tables_);
    }
    return absl::OkStatus();
  }

  absl::Status CheckFile() {
    const bool has_keys = !input_.keys_path.empty();
    report_.source_path = has_keys ? input_.keys_path : input_.rows_path;
    StagedTable staged{std::string(kStagedName), options_.temporary_directory};
    STELE_RETURN_IF_ERROR(has_keys ? StageKeys(input_.keys_path, &staged)
                                   : StageRows(input_.rows_path, &staged));
    STELE_ASSIGN_OR_RETURN(const Table table, staged.Finish());
    CheckedTable checked;
    checked.name = kStagedName;
    return CheckTable(staged.database(), table, &checked);
  }

  absl::Status CheckTable(const Database& database, const Table& table, CheckedTable* checked) {
    std::unique_ptr<TableFacts> facts;
    if (needs_rows_) {
      const Schema schema = checked->schema.value_or(Schema());
      STELE_ASSIGN_OR_RETURN(checked->key_schema, KeySchemaOf(schema));
      const keys::RowKeySchema* const key_schema =
          checked->key_schema.has_value() ? &*checked->key_schema : nullptr;
      STELE_ASSIGN_OR_RETURN(TableRows rows, ReadTable(database, table, schema, key_schema,
                                                       PlanOf(options_, parameters_)));
      facts = std::move(rows.facts);
      checked->facts = facts.get();
      checked->is_sampled = rows.is_sampled;
      if (const auto stats = table.Stats(); checked->schema.has_value() && stats.ok())
        checked->disk_bytes = stats->bytes_on_disk;
    }
    LintReport::TableCounts& counts = report_.tables[checked->name];
    if (facts != nullptr)
      counts = {.rows = facts->rows(),
                .cells = facts->sizes().cells(),
                .bytes = facts->sizes().bytes(),
                .is_sampled = checked->is_sampled};
    STELE_RETURN_IF_ERROR(RunRules(checked));
    checked->facts = nullptr;
    return absl::OkStatus();
  }

  // The tables of the traces, and the delimiter of the keys in the operations on them.
  absl::Status ReadTraceTables() {
    return ForEachOperation([&](const TraceRecord& record) -> absl::Status {
      auto known = trace_delimiters_.find(record.table);
      if (known == trace_delimiters_.end()) {
        if (trace_delimiters_.size() == kTraceTablesMax)
          return internal::InvalidArgument("a trace of more than {} tables", kTraceTablesMax);
        known = trace_delimiters_.emplace(record.table, DelimiterChoice()).first;
      }
      if (!record.row.empty()) known->second.Add(record.row);
      if (record.start.has_value() && !record.start->empty()) known->second.Add(*record.start);
      for (const std::string& key : record.keys) known->second.Add(key);
      return absl::OkStatus();
    });
  }

  absl::Status CheckTraceTables() {
    for (const auto& [name, delimiter] : trace_delimiters_) {
      CheckedTable checked;
      checked.name = name;
      report_.tables[name] = {};
      STELE_RETURN_IF_ERROR(RunRules(&checked));
    }
    report_.source_path = input_.trace_paths.front();
    return absl::OkStatus();
  }

  absl::Status ForEachOperation(const std::function<absl::Status(const TraceRecord&)>& add) {
    for (const std::string& path : input_.trace_paths) {
      STELE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path));
      TraceRecord record;
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next(&record));
        if (!any) break;
        STELE_RETURN_IF_ERROR(add(record));
      }
    }
    return absl::OkStatus();
  }

  // Returns null if the traces have no operation on the table.
  absl::StatusOr<std::unique_ptr<OperationFacts>> ReadOperations(const CheckedTable& checked) {
    const auto known = trace_delimiters_.find(checked.name);
    if (known == trace_delimiters_.end()) return nullptr;
    const std::string delimiter = checked.facts != nullptr
                                      ? checked.facts->row_keys().plan().delimiter
                                      : options_.delimiter.value_or(known->second.Choose());
    const OperationLimits limits = {
        .mutation_cells = parameters_.Get("SIZE-MUT-MAX", "count"),
        .small_bytes = parameters_.Get("ROW-ENTITY-SPLIT", "bytes"),
        .writes_per_minute = parameters_.Get("KEY-HOT-ROW", "minute"),
        .sustained_writes = parameters_.Get("KEY-HOT-ROW", "sustained")};
    auto operations = std::make_unique<OperationFacts>(
        limits, delimiter,
        checked.facts == nullptr || checked.is_sampled ? 0 : checked.facts->rows());
    STELE_RETURN_IF_ERROR(ForEachOperation([&](const TraceRecord& record) {
      if (record.table == checked.name) operations->Add(record);
      return absl::OkStatus();
    }));
    operations->Finish();
    return operations;
  }

  absl::Status RunRules(CheckedTable* checked) {
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<OperationFacts> operations,
                           ReadOperations(*checked));
    checked->operations = operations.get();
    const auto reaches = [&](bool is_needed, uint64_t count, std::string_view name) {
      return !is_needed || static_cast<double>(count) >= parameters_.Get("lint", name);
    };
    for (const RuleSpec* const spec : rules_) {
      const stele::lab::LintRule& rule = spec->rule;
      if (spec->check_table == nullptr || (rule.needs_trace && operations == nullptr) ||
          !reaches(rule.needs_min_rows, checked->facts == nullptr ? 0 : checked->facts->rows(),
                   "min_rows") ||
          !reaches(rule.needs_min_operations, operations == nullptr ? 0 : operations->operations(),
                   "min_ops"))
        continue;
      spec->check_table(RuleCall(rule, parameters_, *checked, &report_.findings));
    }
    checked->operations = nullptr;
    return absl::OkStatus();
  }

  // The table's property lint.ignore: ID,ID.
  void AddIgnored(const Schema& schema, const std::string& table) {
    const auto property = schema.properties().find(kIgnoreProperty);
    if (property == schema.properties().end()) return;
    std::string_view rest = property->second;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view id = rest.substr(0, comma);
      while (id.starts_with(' ')) id.remove_prefix(1);
      while (id.ends_with(' ')) id.remove_suffix(1);
      ignored_.emplace(table, id);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }

  // Keys whose order of segments follows from their load are not reported for it.
  void RemoveExcusedFindings() {
    std::set<std::string> monotone;
    for (const LintFinding& finding : report_.findings)
      if (finding.id == "KEY-MONOTONE") monotone.insert(finding.table);
    std::erase_if(report_.findings, [&](const LintFinding& finding) {
      return finding.id == "KEY-CARDINALITY" && monotone.count(finding.table) > 0;
    });
  }

  void SortFindings() {
    for (LintFinding& finding : report_.findings) {
      finding.is_suppressed = std::find(options_.skip.begin(), options_.skip.end(), finding.id) !=
                                  options_.skip.end() ||
                              ignored_.count({finding.table, finding.id}) > 0;
    }
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const LintFinding& a, const LintFinding& b) {
                       return std::tie(a.severity, a.id, a.table, a.segment, a.family, a.column) <
                              std::tie(b.severity, b.id, b.table, b.segment, b.family, b.column);
                     });
  }

  const LintInput& input_;
  const LintOptions& options_;
  Parameters parameters_;
  std::vector<const RuleSpec*> rules_;
  std::vector<CheckedTable> tables_;
  std::set<std::pair<std::string, std::string>> ignored_;  // table and rule
  LintReport report_;
  std::map<std::string, DelimiterChoice> trace_delimiters_;
  bool has_schema_ = false;
  bool has_rows_ = false;
  bool needs_rows_ = false;
};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

uint64_t LintReport::Count(LintSeverity severity) const {
  return static_cast<uint64_t>(
      std::count_if(findings.begin(), findings.end(), [&](const LintFinding& finding) {
        return !finding.is_suppressed && finding.severity == severity;
      }));
}

absl::StatusOr<LintReport> Lint(const LintInput& input, const LintOptions& options) {
  return internal::lab::LintRun(input, options).Run();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
