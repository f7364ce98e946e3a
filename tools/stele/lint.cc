// tools/stele/lint.cc: the verb lint: the flags of stele/lab/lint.h.
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "lab_files.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "compare/work_directory.h"
#include "stele/lab/lint.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kLintFlags[] = {
    {"keys"},
    {"rows"},
    {"delimiter"},
    {"sample"},
    {"set", true, true},
    {"only"},
    {"skip"},
    {"fail-on"},
    {"explain"},
    {"trace", true, true},
    {"design"},
    {"input", true, true},
    {"limit"},
    {"config"},
    {"skip-bad", false},
};

// Read if --config is not given and the file exists.
constexpr char kConfigFile[] = "stele-lint.yaml";

constexpr size_t kTablesShownMax = 20;

enum class LintFormat { kText, kJson, kSarif };

// Parses -o and --format, which accepts sarif in this verb.
absl::StatusOr<LintFormat> ParseLintOutput(Session& session, const Flags& flags) {
  if (flags.Find("format") != "sarif") {
    const auto format = flags.Find("format");
    if (format.has_value() && format != "text" && format != "json")
      return UsageError("--format of lint must be text, json or sarif");
    STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
    return as_json ? LintFormat::kJson : LintFormat::kText;
  }
  if (session.options().has_format_flag) return UsageError("flag --format is given twice");
  if (const auto output = flags.Find("o")) {
    if (!session.options().output.empty()) return UsageError("flag -o is given twice");
    session.SetOutput(*output);
  }
  return LintFormat::kSarif;
}

absl::Status CheckIds(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    bool is_known = false;
    for (const lab::LintRule& rule : lab::Rules()) is_known = is_known || rule.id == id;
    if (is_known) continue;
    if (lab::ExplainRule(id).ok() && id != "all")
      return UsageError(id + " is found by import dynamodb, and lint does not check it");
    return UsageError(fmt::format("\"{}\" is not a rule; \"stele lint --explain all\" lists them",
                                  internal::Printable(id)));
  }
  return absl::OkStatus();
}

bool IsParameter(std::string_view name) {
  if (name == "lint.min_rows" || name == "lint.min_ops") return true;
  for (const lab::LintRule& rule : lab::Rules()) {
    for (const auto& parameter : rule.parameters)
      if (name == fmt::format("{}.{}", rule.id, parameter.name)) return true;
  }
  return false;
}

// RULE.PARAMETER=VALUE
absl::Status AddParameter(const std::string& text, lab::LintOptions* options) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || !IsParameter(name))
    return UsageError(fmt::format("--set {}: write RULE.PARAMETER=VALUE; --explain RULE lists them",
                                  internal::Printable(text)));
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, value);
  if (error != std::errc() || rest != end || !(value >= 0 && value <= 1e18))
    return UsageError(fmt::format("--set {}: the value must be a number from 0 to 1e18",
                                  internal::Printable(text)));
  options->parameters[name] = value;
  return absl::OkStatus();
}

absl::StatusOr<lab::LintOptions> ParseLintFlags(const Flags& flags) {
  lab::LintOptions options{.delimiter = flags.Find("delimiter"),
                           .skips_bad_lines = flags.has("skip-bad")};
  if (const auto only = flags.Find("only")) options.only = Split(*only, ',');
  if (const auto skip = flags.Find("skip")) options.skip = Split(*skip, ',');
  STELE_RETURN_IF_ERROR(CheckIds(options.only));
  STELE_RETURN_IF_ERROR(CheckIds(options.skip));
  for (const std::string& text : flags.All("set"))
    STELE_RETURN_IF_ERROR(AddParameter(text, &options));
  if (const auto sample = flags.Find("sample")) {
    STELE_ASSIGN_OR_RETURN(const int64_t rows, ParseNumber("sample", *sample));
    if (rows < 1) return UsageError("--sample must be a number of rows, at least 1");
    options.sample_rows = static_cast<uint64_t>(rows);
  }
  if (const auto limit = flags.Find("limit")) {
    STELE_ASSIGN_OR_RETURN(const int64_t records, ParseNumber("limit", *limit));
    if (records < 1) return UsageError("--limit must be a number of records, at least 1");
    options.records_max = static_cast<uint64_t>(records);
  }
  std::error_code error;
  options.config_path =
      flags.Get("config", std::filesystem::exists(kConfigFile, error) ? kConfigFile : "");
  return options;
}

// Parses --fail-on. Returns the number of severities that give exit status 3, from the most severe
// one on.
absl::StatusOr<int> ParseFailOn(const Flags& flags) {
  const std::string text = flags.Get("fail-on", "warning");
  constexpr std::string_view kNames[] = {"never", "error", "warning", "info"};
  for (int i = 0; i < 4; ++i)
    if (text == kNames[i]) return i;
  return UsageError("--fail-on must be error, warning, info or never");
}

// Parses the flags that name the sources of a check, except the database.
absl::StatusOr<lab::LintInput> ParseSources(const Flags& flags) {
  lab::LintInput input{.tables = flags.words(),
                       .design_path = flags.Get("design", ""),
                       .keys_path = flags.Get("keys", ""),
                       .rows_path = flags.Get("rows", ""),
                       .trace_paths = flags.All("trace")};
  for (const std::string& path : input.trace_paths)
    if (path == "-") return UsageError("lint reads a trace twice: store it in a file first");
  const int file_count = flags.has("keys") + flags.has("rows") + flags.has("design");
  if (file_count > 1 || (file_count == 1 && !flags.has("design") && !input.tables.empty()))
    return UsageError("lint checks tables, a design, or one file of --keys or --rows");
  if (flags.has("skip-bad") && !flags.has("trace")) return UsageError("--skip-bad needs --trace");
  if (!flags.has("design") && (flags.has("input") || flags.has("limit")))
    return UsageError("--input and --limit need --design");
  STELE_ASSIGN_OR_RETURN(input.inputs, ParseInputs(flags.All("input")));
  return input;
}

// The directory for the rows of a file that do not fit into memory. A signal removes it. Make it
// before the process has other threads. Null if it cannot be created: a small file needs none.
std::unique_ptr<WorkDirectory> MakeRowDirectory(lab::LintOptions* options) {
  auto directory = WorkDirectory::MakeTemporary("lint");
  if (!directory.ok()) return nullptr;
  options->temporary_directory = (*directory)->path();
  return *std::move(directory);
}

// Prints a rule, or all of them. Words and flags of a check are usage errors here.
absl::Status Explain(Session& session, const Flags& flags, const std::string& id) {
  bool has_others = !flags.words().empty() || flags.has("format");
  for (const FlagSpec& flag : kLintFlags)
    has_others = has_others || (flag.name != "explain" && flags.has(flag.name));
  if (has_others)
    return UsageError("--explain checks nothing: leave out tables and all other flags except -o");
  const auto text = lab::ExplainRule(id);
  if (!text.ok()) return UsageError(internal::ToStd(text.status().message()));
  session.Print(*text);
  return absl::OkStatus();
}

// Prints a note about tables without rows, since a file may be empty by mistake.
void NoteNoRows(Session& session, const lab::LintReport& report) {
  uint64_t rows = 0;
  size_t count = 0;
  std::string names;
  for (const auto& [name, counts] : report.tables) {
    rows += counts.rows;
    if (!counts.has_read_rows || counts.rows > 0 || ++count > kTablesShownMax) continue;
    names.append(names.empty() ? "" : ", ").append(internal::Printable(name));
  }
  if (report.has_read_rows && rows == 0) {
    session.Note("stele: there are no rows, so nothing was checked that needs them\n");
    return;
  }
  if (count == 0) return;
  if (count > kTablesShownMax) names += fmt::format(" and {} more", count - kTablesShownMax);
  session.Note(fmt::format(
      "stele: tables without rows: {}. Nothing was checked there that needs rows\n", names));
}

}  // namespace

absl::Status RunLint(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kLintFlags));
  STELE_ASSIGN_OR_RETURN(const LintFormat format, ParseLintOutput(session, flags));
  if (const auto id = flags.Find("explain")) return Explain(session, flags, *id);
  STELE_ASSIGN_OR_RETURN(lab::LintOptions options, ParseLintFlags(flags));
  STELE_ASSIGN_OR_RETURN(const int fail_on, ParseFailOn(flags));
  STELE_ASSIGN_OR_RETURN(lab::LintInput input, ParseSources(flags));
  options.output_paths = {session.options().output};
  const bool has_file =
      !input.keys_path.empty() || !input.rows_path.empty() || !input.design_path.empty();
  const bool has_only_traces =
      !has_file && input.tables.empty() && flags.has("trace") && session.options().database.empty();
  if (!has_file && !has_only_traces) {
    if (session.options().database.empty())
      return UsageError("nothing to check: use --db DIR, --design, --keys, --rows or --trace");
    STELE_ASSIGN_OR_RETURN(input.database, session.Open(Session::Access::kRead));
  }
  std::unique_ptr<WorkDirectory> directory;
  if (has_file) directory = MakeRowDirectory(&options);
  Progress progress("reading", "rows", 0);
  options.progress = [&](uint64_t rows) { progress.Set(rows); };
  STELE_ASSIGN_OR_RETURN(const lab::LintReport report, lab::Lint(input, options));
  progress.End();
  NoteNoRows(session, report);
  session.Print(format == LintFormat::kText   ? report.ToText()
                : format == LintFormat::kJson ? report.ToJson()
                                              : report.ToSarif(STELE_VERSION));
  constexpr lab::LintSeverity kSeverities[] = {
      lab::LintSeverity::kError, lab::LintSeverity::kWarning, lab::LintSeverity::kInfo};
  for (int i = 0; i < fail_on; ++i)
    if (report.Count(kSeverities[i]) > 0) session.SkippedSome();
  if (report.skipped_lines > 0) session.SkippedSome();
  return absl::OkStatus();
}

#else

absl::Status RunLint(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("lint");
}

#endif

}  // namespace stele::cli
