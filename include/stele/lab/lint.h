// stele/lab/lint.h: checks the schema, the rows and the recorded operations of tables against a
// list of rules, as `stele lint` does. Requires the library stele::lab. docs/lab/lint.md describes
// the sources, and docs/lab/rules.md the rules.
//
// Threads:   one thread per call; calls may run together.
// Memory:    up to 128 MiB in addition to the database's budget, for tables of any size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele::inline v0::lab {

enum class LintSeverity : uint8_t { kError, kWarning, kInfo };

// A rule of the advisor. Its texts are in English.
struct LintRule {
  struct Parameter {
    std::string_view name;
    double default_value = 0;
    std::string_view meaning;
  };
  std::string_view id;
  LintSeverity severity = LintSeverity::kWarning;
  bool needs_schema = false;
  bool needs_rows = false;
  bool needs_trace = false;
  bool needs_records = false;         // of the inputs of a design
  bool needs_min_rows = false;        // checks only tables with at least lint.min_rows rows
  bool needs_min_operations = false;  // and at least lint.min_ops operations
  std::span<const Parameter> parameters;
  std::string_view summary;      // one sentence
  std::string_view explanation;  // what the rule checks and why
  std::string_view before;       // an example that has the problem
  std::string_view after;        // the same without it
  std::string_view on_bigtable;  // the differences on Cloud Bigtable
};

[[nodiscard]] std::span<const LintRule> Rules();  // all, sorted by id

// Returns the text about one rule, or "all". Errors: InvalidArgument for an unknown rule.
[[nodiscard]] absl::StatusOr<std::string> ExplainRule(std::string_view id);

// The tables of a database or of a design, or the rows of a file.
struct LintInput {
  Database database = {};                // may be empty if a file is given
  std::vector<std::string> tables = {};  // empty: all tables of the database or the design
  // A design file. Its inputs are mapped to rows of a temporary database. Tables whose inputs have
  // no file have no rows. The file states accepted findings and parameters, too.
  std::string design_path = {};
  std::map<std::string, std::string> inputs = {};  // paths by name, instead of the design's
  // "-" is standard input. The rows of the two files form the table "t".
  std::string keys_path = {};  // one row key per line; \xNN is a byte, and \\ a backslash
  std::string rows_path = {};  // in the format of `stele export`
  // Recorded operations. Tables that are not checked are ignored, but each trace must have an
  // operation on one that is checked. The table PROJECT/INSTANCE/T of a server's trace is the table
  // T. Without a database and a file, the tables of the traces are checked.
  std::vector<std::string> trace_paths = {};
};

struct LintOptions {
  // The delimiter of keys. Not set: declared by the table, or chosen from its keys. "": none.
  std::optional<std::string> delimiter = std::nullopt;
  std::vector<std::string> only = {};  // runs only these rules; empty: all
  std::vector<std::string> skip = {};  // findings of these rules are suppressed
  // Values of parameters, by "RULE.PARAMETER", "lint.min_rows" or "lint.min_ops".
  std::map<std::string, double> parameters = {};
  bool skips_bad_lines = false;    // counts wrong lines of traces instead of failing
  uint64_t sample_rows = 0;        // reads about this many rows per table. 0: all
  uint64_t records_max = 100'000;  // reads this many records of each input of a design. 0: all
  // A file with the members of `lint` of a design. "": none. For a parameter, `parameters` wins
  // over the design, and the design over this file.
  std::string config_path = {};
  // Files that the caller writes. If one is read, or is in a directory that is read, Lint fails.
  std::vector<std::string> output_paths = {};
  std::string temporary_directory = {};  // sorts large files. "": the one for temporary files
  std::function<void(uint64_t rows)> progress = nullptr;  // called now and then: rows read so far
};

struct LintFinding {
  std::string id = {};
  LintSeverity severity = LintSeverity::kWarning;
  std::string table = {};  // "": the database
  double measured = 0;     // the number that the rule compares
  double threshold = 0;
  uint64_t count = 0;  // rows or operations
  std::string message = {};
  std::string evidence = {};  // more about the message, or ""
  std::string advice = {};
  std::vector<std::string> samples = {};  // at most 3; bytes; personal data is masked
  // Where in the table; unset and empty members do not apply.
  std::optional<uint64_t> segment = std::nullopt;  // from 1
  std::string family = {};
  std::optional<std::string> column = std::nullopt;
  std::optional<uint64_t> line = std::nullopt;  // in LintReport::source_path
  bool is_suppressed = false;
  std::string suppression_reason = {};  // as a design or a config file states it
  bool is_sampled = false;              // the numbers are those of a sample
};

struct LintReport {
  struct TableCounts {
    uint64_t rows = 0;   // that a reader sees
    uint64_t cells = 0;  // stored
    uint64_t bytes = 0;  // of row keys, qualifiers and values, stored
    bool is_sampled = false;
    bool has_read_rows = false;  // its rows were read; it may have none
  };
  std::map<std::string, TableCounts> tables = {};
  bool has_read_rows = false;         // a source of rows was read; it may have none
  std::vector<std::string> run = {};  // the ids of the rules that ran
  // Why rules of LintOptions::only did not run. Which cells of a design no record fills, and which
  // of its fields no record has, as LoadReport::unfilled_cells and hints.
  std::vector<std::string> notes = {};
  std::vector<std::string> not_run = {};   // those without their sources, or not in `only`
  std::vector<LintFinding> findings = {};  // sorted by severity, id and table
  uint64_t skipped_lines = 0;              // of the traces
  std::string source_path = {};            // the file that was checked or described it, or ""

  uint64_t Count(LintSeverity severity) const;          // of findings that are not suppressed
  std::string ToText() const;                           // for people
  std::string ToJson() const;                           // one document
  std::string ToSarif(std::string_view version) const;  // 2.1.0, with this version of the tool
};

// Checks tables, and writes nothing to the database.
//
// Errors:
//   InvalidArgument     two sources of rows, or a file of rows and tables; an unknown rule or
//                       parameter; a wrong line of a file; a wrong design, or a record that does
//                       not fit it; a wrong row key schema in the properties of a table
//   NotFound            a table or a file is missing; a trace has no operation on a checked table
//   FailedPrecondition  no source is given; a table matches more than one table of a server's
//                       trace
//   errors of the file system and of the database
[[nodiscard]] absl::StatusOr<LintReport> Lint(const LintInput& input,
                                              const LintOptions& options = {});

}  // namespace stele::inline v0::lab
