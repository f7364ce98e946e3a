// tools/stele/design.cc: the verb design: checks, shows and applies design files.
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "keys/hidden.h"
#include "lab_files.h"
#include "listing.h"
#include "location.h"
#include "nlohmann/json.hpp"
#ifdef STELE_HAS_LAB
#include "lab/values/shown_text.h"
#include "stele/lab/design.h"
#include "stele/lab/lint.h"
#endif

namespace stele::cli {
namespace {

#ifdef STELE_HAS_LAB

using internal::lab::ShownText;

constexpr FlagSpec kDesignFlags[] = {{"table"}};

size_t QueryCount(const lab::Design& design) {
  size_t count = 0;
  for (const std::string& table : design.tables()) count += design.queries(table).size();
  return count;
}

// Checks the names of rules in `lint`, and the rules that are errors and need nothing but a schema.
absl::Status CheckRules(const std::string& file) {
  lab::LintOptions options;
  for (const lab::LintRule& rule : lab::Rules()) {
    if (rule.severity == lab::LintSeverity::kError && rule.needs_schema && !rule.needs_rows &&
        !rule.needs_trace)
      options.only.emplace_back(rule.id);
  }
  STELE_ASSIGN_OR_RETURN(const lab::LintReport report, lab::Lint({.design_path = file}, options));
  std::string text;
  for (const lab::LintFinding& finding : report.findings) {
    if (!finding.is_suppressed)
      text += fmt::format("{}{}:{}:1: {} ({})", text.empty() ? "" : "\n", ShownText(file),
                          finding.line.value_or(1), finding.message, finding.id);
  }
  return text.empty() ? absl::OkStatus() : internal::InvalidArgument("{}", text);
}

// Prints the result of each file, also if some are wrong.
absl::Status CheckDesigns(Session& session, const std::vector<std::string>& files, bool as_json) {
  size_t wrong_count = 0;
  nlohmann::json results = nlohmann::json::array();
  std::string text;
  for (const std::string& file : files) {
    auto design = lab::Design::Load(file);
    if (design.ok()) {
      if (const absl::Status checked = CheckRules(file); !checked.ok()) design = checked;
    }
    if (!design.ok()) ++wrong_count;
    const std::string message(internal::ToStd(design.status().message()));
    if (as_json && design.ok()) {
      results.push_back({{"file", file},
                         {"ok", true},
                         {"tables", design->tables().size()},
                         {"queries", QueryCount(*design)}});
    } else if (as_json) {
      results.push_back({{"file", file}, {"ok", false}, {"errors", Split(message, '\n')}});
    } else if (design.ok()) {
      text += fmt::format("{}: ok: {}, {}\n", ShownText(file),
                          Counted(design->tables().size(), "table", "tables"),
                          Counted(QueryCount(*design), "query", "queries"));
    } else {
      text += message + "\n";
    }
  }
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  const nlohmann::json report = {{"design", 1}, {"files", std::move(results)}};
  session.Print(as_json ? internal::EscapeHidden(report.dump(-1, ' ', false, kReplace)) + "\n"
                        : text);
  if (wrong_count == 0) return absl::OkStatus();
  session.KeepOutput();
  return internal::InvalidArgument("{} of {} {} wrong", wrong_count,
                                   Counted(files.size(), "design", "designs"),
                                   wrong_count == 1 ? "is" : "are");
}

absl::Status ApplyTables(Session& session, const std::string& file, const Flags& flags,
                         bool as_json) {
  STELE_ASSIGN_OR_RETURN(const lab::Design design, lab::Design::Load(file));
  // A wrong name creates no database.
  if (const auto table = flags.Find("table"))
    STELE_RETURN_IF_ERROR(design.TableSchema(*table).status());
  STELE_ASSIGN_OR_RETURN(const Database database, session.OpenToKeep());
  STELE_ASSIGN_OR_RETURN(
      const std::vector<lab::AppliedTable> applied,
      lab::ApplyDesign(database, design,
                       {.table = flags.Get("table", ""),
                        .stores_design = !IsRemote(session.options().database)}));
  nlohmann::json tables = nlohmann::json::object();
  std::string text;
  bool has_key_schema = false;
  for (const lab::AppliedTable& table : applied) {
    STELE_ASSIGN_OR_RETURN(const Schema schema, design.TableSchema(table.table));
    has_key_schema = has_key_schema || schema.properties().contains("row_key_schema");
    tables[table.table] = table.is_new ? "created" : "exists";
    text += fmt::format("{}: {}\n", table.table, table.is_new ? "created" : "exists");
  }
  if (IsRemote(session.options().database)) NoteUnstored(session, has_key_schema);
  const nlohmann::json report = {{"design", 1}, {"tables", std::move(tables)}};
  session.Print(as_json ? internal::EscapeHidden(report.dump()) + "\n" : text);
  return absl::OkStatus();
}

#endif

}  // namespace

#ifdef STELE_HAS_LAB

absl::Status RunDesign(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kDesignFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  const std::vector<std::string>& words = flags.words();
  if (!words.empty() && words[0] != "check" && words[0] != "show" && words[0] != "apply")
    return UsageError(
        fmt::format("\"{}\" is not a function of stele design; \"stele help design\" lists them",
                    internal::Printable(words[0])));
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({session.options().output}, words));
  if (words.size() < 2) return WrongUsage("design");
  const std::vector<std::string> files(words.begin() + 1, words.end());
  const bool is_apply = words[0] == "apply";
  if (flags.has("table") && !is_apply) return UsageError("--table needs design apply");
  if (words[0] == "check") return CheckDesigns(session, files, as_json);
  if (files.size() > 1) return WrongUsage("design");
  if (is_apply) return ApplyTables(session, files[0], flags, as_json);
  STELE_ASSIGN_OR_RETURN(const lab::Design design, lab::Design::Load(files[0]));
  STELE_RETURN_IF_ERROR(CheckRules(files[0]));
  session.Print(design.ToJson() + "\n");
  return absl::OkStatus();
}

#else

absl::Status RunDesign(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("design");
}

#endif

}  // namespace stele::cli
