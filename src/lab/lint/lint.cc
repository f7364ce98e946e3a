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
#include "io/output_file.h"
#include "lab/lint/design_source.h"
#include "lab/lint/lint_settings.h"
#include "lab/lint/table_reader.h"
#include "lab/lint/trace_source.h"
#include "lab/rules/rule_list.h"
#include "lab/staging/row_files.h"

namespace stele::internal::lab {
namespace {

using stele::lab::LintInput;
using stele::lab::LintOptions;
using stele::lab::LintReport;

constexpr std::string_view kStagedName = "t";
constexpr std::string_view kIgnoreProperty = "lint.ignore";

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
  LintRun(const LintInput& input, const LintOptions& options)
      : input_(input), options_(options), traces_(input.trace_paths, options.skips_bad_lines) {}

  absl::StatusOr<LintReport> Run() {
    STELE_RETURN_IF_ERROR(CheckOptions());
    const bool has_file = !input_.keys_path.empty() || !input_.rows_path.empty();
    const bool has_design = !input_.design_path.empty();
    const bool has_database =
        !has_file && !has_design && (input_.trace_paths.empty() || HasDatabase());
    if (has_design) STELE_RETURN_IF_ERROR(OpenDesign());
    STELE_RETURN_IF_ERROR(CheckOutputs());
    STELE_RETURN_IF_ERROR(ApplyAllSettings());
    has_schema_ = has_database || has_design;
    has_records_ = has_design && design_->HasRecords();
    has_rows_ = has_file || has_database || has_records_;
    // The rows of a file are counted even if no rule needs them.
    needs_rows_ = has_file;
    ChooseRules();
    report_.has_read_rows = has_rows_ && needs_rows_;
    STELE_RETURN_IF_ERROR(traces_.ReadTables());
    report_.skipped_lines = traces_.skipped_lines();
    STELE_RETURN_IF_ERROR(has_file       ? CheckFile()
                          : has_design   ? CheckDesign()
                          : has_database ? CheckDatabase()
                                         : CheckTraceTables());
    STELE_RETURN_IF_ERROR(CheckTracedTables());
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
    if (has_file && !input_.design_path.empty())
      return internal::InvalidArgument("a file of keys or rows and a design exclude each other");
    if (input_.design_path.empty() && !input_.inputs.empty())
      return internal::InvalidArgument("inputs need a design");
    for (const auto* const list : {&options_.only, &options_.skip})
      for (const std::string& id : *list)
        if (FindRule(id) == nullptr)
          return internal::InvalidArgument("\"{}\" is not a rule", internal::Printable(id));
    return absl::OkStatus();
  }

  absl::Status OpenDesign() {
    design_.emplace();
    return design_->Open(input_.design_path, input_.tables, input_.inputs);
  }

  absl::Status CheckOutputs() const {
    std::vector<std::string> files = {input_.keys_path, input_.rows_path, options_.config_path};
    files.insert(files.end(), input_.trace_paths.begin(), input_.trace_paths.end());
    if (design_.has_value()) {
      const std::vector<std::string> read = design_->Files();
      files.insert(files.end(), read.begin(), read.end());
    }
    return CheckOutputsAreNotInputs(options_.output_paths, files);
  }

  // The more specific settings replace the others.
  absl::Status ApplyAllSettings() {
    if (!options_.config_path.empty())
      STELE_RETURN_IF_ERROR(ApplyConfigFile(options_.config_path, &parameters_, &suppressions_));
    if (design_.has_value()) {
      const std::vector<std::string> tables = design_->all_tables();
      STELE_RETURN_IF_ERROR(ApplySettings(design_->settings(), input_.design_path, &tables,
                                          &parameters_, &suppressions_));
    }
    for (const auto& [name, value] : options_.parameters)
      STELE_RETURN_IF_ERROR(parameters_.Set(name, value));
    for (const std::string& id : options_.skip) suppressions_.Add(id, "", "");
    return absl::OkStatus();
  }

  // True unless the handle is empty. If the database fails, its error is returned later.
  bool HasDatabase() const {
    return input_.database.ListTables().status().code() != absl::StatusCode::kFailedPrecondition;
  }

  void ChooseRules() {
    for (const RuleSpec& spec : RuleList()) {
      const bool is_chosen = options_.only.empty() ||
                             std::find(options_.only.begin(), options_.only.end(), spec.rule.id) !=
                                 options_.only.end();
      if (is_chosen && (has_schema_ || !spec.rule.needs_schema) &&
          (has_rows_ || !spec.rule.needs_rows) && (has_records_ || !spec.rule.needs_records) &&
          (!input_.trace_paths.empty() || !spec.rule.needs_trace)) {
        rules_.push_back(&spec);
        report_.run.emplace_back(spec.rule.id);
        // Rules about operations know the delimiter and the number of rows from the rows.
        needs_rows_ = needs_rows_ || spec.rule.needs_rows || spec.rule.needs_records ||
                      (has_rows_ && spec.rule.needs_trace);
      } else {
        report_.not_run.emplace_back(spec.rule.id);
        if (is_chosen && !options_.only.empty())
          report_.notes.push_back(
              fmt::format("{} did not run: it {}", spec.rule.id, SourcesOf(spec.rule)));
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
    // Opens all tables first, so that a missing one is reported before any row is read.
    std::vector<Table> tables;
    for (const std::string& name : names) {
      STELE_ASSIGN_OR_RETURN(Table table, input_.database.OpenTable(name));
      STELE_ASSIGN_OR_RETURN(Schema schema, table.schema());
      CheckedTable& checked = tables_.emplace_back();
      checked.name = name;
      if (const auto ignored = schema.properties().find(kIgnoreProperty);
          ignored != schema.properties().end())
        suppressions_.AddProperty(ignored->second, name);
      checked.schema = std::move(schema);
      tables.push_back(std::move(table));
    }
    for (size_t i = 0; i < tables.size(); ++i)
      STELE_RETURN_IF_ERROR(CheckTable(input_.database, &tables[i], &tables_[i]));
    CheckAllTables();
    return absl::OkStatus();
  }

  absl::Status CheckDesign() {
    report_.source_path = input_.design_path;
    if (needs_rows_) {
      STELE_RETURN_IF_ERROR(design_->Load(options_.records_max, options_.temporary_directory));
      for (std::string& hint : design_->Hints(options_.records_max))
        report_.notes.push_back(std::move(hint));
    }
    for (const std::string& name : design_->tables()) {
      CheckedTable& checked = tables_.emplace_back();
      checked.name = name;
      STELE_ASSIGN_OR_RETURN(checked.schema, design_->TableSchema(name));
      checked.loaded = design_->CountsOf(name);
    }
    for (CheckedTable& checked : tables_) {
      STELE_ASSIGN_OR_RETURN(std::optional<Table> rows, design_->OpenRows(checked.name));
      STELE_RETURN_IF_ERROR(
          CheckTable(design_->database(), rows.has_value() ? &*rows : nullptr, &checked));
    }
    CheckAllTables();
    for (LintFinding& finding : report_.findings) finding.line = design_->LineOf(finding);
    return absl::OkStatus();
  }

  void CheckAllTables() {
    CheckedTable whole;
    for (const RuleSpec* const spec : rules_) {
      if (spec->check_database == nullptr) continue;
      spec->check_database(RuleContext(spec->rule, parameters_, whole, &report_.findings), tables_);
    }
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
    return CheckTable(staged.database(), &table, &checked);
  }

  // `table` is null if there are no rows.
  absl::Status CheckTable(const Database& database, const Table* table, CheckedTable* checked) {
    std::optional<TableRows> rows;
    if (needs_rows_ && table != nullptr) {
      const Schema schema = checked->schema.value_or(Schema());
      STELE_ASSIGN_OR_RETURN(checked->key_schema, KeySchemaOf(schema));
      const keys::RowKeySchema* const key_schema =
          checked->key_schema.has_value() ? &*checked->key_schema : nullptr;
      ReadPlan plan = PlanOf(options_, parameters_);
      if (TraceTable* const traced = traces_.tables().Find(checked->name))
        plan.prefix_scans = &traced->prefix_scans;
      STELE_ASSIGN_OR_RETURN(rows, ReadTable(database, *table, schema, key_schema, plan));
      checked->facts = rows->facts.get();
      checked->is_sampled = rows->is_sampled;
      if (const auto stats = table->Stats();
          checked->schema.has_value() && checked->loaded == nullptr && stats.ok())
        checked->disk_bytes = stats->bytes_on_disk;
    }
    LintReport::TableCounts& counts = report_.tables[checked->name];
    if (rows.has_value())
      counts = {.rows = rows->facts->rows(),
                .cells = rows->facts->sizes().cells(),
                .bytes = rows->facts->sizes().bytes(),
                .is_sampled = checked->is_sampled,
                .has_read_rows = true};
    STELE_RETURN_IF_ERROR(CheckOperations(rows.has_value() ? &*rows : nullptr, checked));
    checked->facts = nullptr;
    return absl::OkStatus();
  }

  absl::Status CheckTraceTables() {
    for (auto& [name, table] : traces_.tables().tables()) {
      CheckedTable checked;
      checked.name = name;
      report_.tables[name] = {};
      STELE_RETURN_IF_ERROR(CheckOperations(nullptr, &checked));
    }
    report_.source_path = input_.trace_paths.front();
    return absl::OkStatus();
  }

  // Runs the rules, with the operations on the table if a trace has some. `rows` is null if the
  // rows were not read. If there are none, the keys of the trace are the known keys.
  absl::Status CheckOperations(const TableRows* rows, CheckedTable* checked) {
    TraceTable* const traced = traces_.tables().Find(checked->name);
    std::unique_ptr<OperationFacts> operations;
    if (traced != nullptr) {
      const TableRows* const known = rows != nullptr && rows->facts->rows() > 0 ? rows : nullptr;
      const std::string delimiter = known != nullptr ? known->facts->row_keys().plan().delimiter
                                                     : DelimiterOf(rows, *checked, *traced);
      if (known == nullptr) MatchPrefixes(delimiter, traced);
      const OperationLimits limits = {
          .mutation_cells = parameters_.Get("SIZE-MUT-MAX", "count"),
          .small_bytes = parameters_.Get("ROW-ENTITY-SPLIT", "bytes"),
          .writes_per_minute = parameters_.Get("KEY-HOT-ROW", "minute"),
          .sustained_writes = parameters_.Get("KEY-HOT-ROW", "sustained")};
      STELE_ASSIGN_OR_RETURN(
          operations,
          traces_.ReadOperations(checked->name, limits, delimiter,
                                 known == nullptr || known->is_sampled ? 0 : known->facts->rows(),
                                 known == nullptr ? traced->keys : known->known_keys));
      checked->operations = operations.get();
      checked->prefix_scans = &traced->prefix_scans;
    }
    RunRules(*checked);
    checked->operations = nullptr;
    checked->prefix_scans = nullptr;
    return absl::OkStatus();
  }

  // Returns the delimiter of a table without rows.
  std::string DelimiterOf(const TableRows* rows, const CheckedTable& checked,
                          const TraceTable& traced) const {
    const std::string declared = rows == nullptr ? "" : rows->facts->row_keys().plan().delimiter;
    if (!declared.empty()) return declared;
    if (checked.schema.has_value())
      if (const auto plan = DesignedPlan(*checked.schema)) return plan->delimiter;
    return options_.delimiter.value_or(traced.Delimiter());
  }

  // Matches the prefixes of scans with the row keys of the trace, for a table without rows.
  static void MatchPrefixes(const std::string& delimiter, TraceTable* traced) {
    traced->prefix_scans.Start(delimiter);
    for (size_t i = 0; i < traced->keys.keys().size(); ++i)
      if (traced->keys.is_row(i)) traced->prefix_scans.Match(traced->keys.keys()[i]);
  }

  // True if the sources of the rule are known for this table, and the table is large enough.
  bool Applies(const stele::lab::LintRule& rule, const CheckedTable& table) const {
    const auto reaches = [&](bool is_needed, uint64_t count, std::string_view name) {
      return !is_needed || static_cast<double>(count) >= parameters_.Get("lint", name);
    };
    const uint64_t rows = table.facts == nullptr ? 0 : table.facts->rows();
    const uint64_t operations = table.operations == nullptr ? 0 : table.operations->operations();
    return (!rule.needs_trace || table.operations != nullptr) &&
           (!rule.needs_rows || table.facts != nullptr) &&
           (!rule.needs_records || table.loaded != nullptr) &&
           reaches(rule.needs_min_rows, rows, "min_rows") &&
           reaches(rule.needs_min_operations, operations, "min_ops");
  }

  void RunRules(const CheckedTable& table) {
    for (const RuleSpec* const spec : rules_) {
      if (spec->check_table == nullptr || !Applies(spec->rule, table) ||
          IsExcused(spec->rule, table))
        continue;
      spec->check_table(RuleContext(spec->rule, parameters_, table, &report_.findings));
    }
  }

  // True for KEY-CARDINALITY if a rule about operations (KEY-MONOTONE, LOAD-SKEW) has a finding.
  // KEY-CARDINALITY is about the order of segments, and the other rules report the effect of that
  // order.
  bool IsExcused(const stele::lab::LintRule& rule, const CheckedTable& table) const {
    if (rule.id != "KEY-CARDINALITY") return false;
    std::vector<LintFinding> findings;
    for (const std::string_view id : {"KEY-MONOTONE", "LOAD-SKEW"}) {
      const RuleSpec& spec = *FindRule(id);
      if (Applies(spec.rule, table))
        spec.check_table(RuleContext(spec.rule, parameters_, table, &findings));
    }
    return !findings.empty();
  }

  // Returns an error for a trace that has no operation on a checked table.
  absl::Status CheckTracedTables() const {
    std::vector<std::string> names;
    for (const auto& [name, counts] : report_.tables) names.push_back(name);
    return traces_.CheckTables(names);
  }

  void SortFindings() {
    for (LintFinding& finding : report_.findings) suppressions_.Apply(&finding);
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
  TraceSource traces_;
  Suppressions suppressions_;
  std::optional<DesignSource> design_;
  LintReport report_;
  bool has_schema_ = false;
  bool has_rows_ = false;
  bool has_records_ = false;
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
