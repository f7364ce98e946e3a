// tools/stele/load.cc: the verb load: the flags of stele/lab/load.h.
#include <memory>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "lab_files.h"
#include "location.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "stele/lab/load.h"
#endif

namespace stele::cli {
namespace {

#ifdef STELE_HAS_LAB

constexpr FlagSpec kLoadFlags[] = {
    {"input", true, true}, {"table"},    {"limit"},    {"time"},
    {"check", false},      {"skip-bad"}, {"bad-file"}, {"allow-duplicates", false}};

absl::StatusOr<lab::LoadOptions> ParseLoadFlags(const Flags& flags) {
  lab::LoadOptions options{.table = flags.Get("table", ""),
                           .only_checks = flags.has("check"),
                           .allows_duplicates = flags.has("allow-duplicates")};
  STELE_ASSIGN_OR_RETURN(options.inputs, ParseInputs(flags.All("input")));
  options.bad_path = flags.Get("bad-file", "");
  STELE_ASSIGN_OR_RETURN(options.bad_records_max, ParseSkipBad(flags, "records"));
  if (const auto limit = flags.Find("limit")) {
    STELE_ASSIGN_OR_RETURN(const int64_t count, ParseNumber("limit", *limit));
    if (count <= 0) return UsageError("--limit must be at least 1");
    options.records_max = static_cast<uint64_t>(count);
  }
  if (const auto time = flags.Find("time")) {
    STELE_ASSIGN_OR_RETURN(const int64_t micros, ParseNumber("time", *time));
    if (micros < 0) return UsageError("--time must not be negative");
    options.time = Timestamp::FromMicros(micros);
  }
  return options;
}

#endif

}  // namespace

#ifdef STELE_HAS_LAB

absl::Status RunLoad(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kLoadFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (flags.words().size() != 1) return WrongUsage("load");
  STELE_ASSIGN_OR_RETURN(lab::LoadOptions options, ParseLoadFlags(flags));
  STELE_ASSIGN_OR_RETURN(const lab::Design design, lab::Design::Load(flags.words()[0]));
  options.output_paths = {session.options().output};
  const std::vector<std::string> outputs = {session.options().output, options.bad_path};
  STELE_RETURN_IF_ERROR(CheckAreDifferent(outputs));
  STELE_RETURN_IF_ERROR(session.CheckOutputs(outputs));
  options.stores_design = !IsRemote(session.options().database);
  options.open_database = [&] { return session.OpenToKeep(); };
  PhaseProgress progress;
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    progress.Set(phase, done, total);
  };
  lab::LoadReport refused;
  options.refused = &refused;
  const auto loaded = lab::LoadDesign(Database(), design, options);
  if (!loaded.ok()) {
    if (!as_json || refused.tables.empty()) return loaded.status();
    session.Print(refused.ToJson());
    session.KeepOutput();
    return loaded.status();
  }
  const lab::LoadReport& report = *loaded;
  session.Print(as_json ? report.ToJson() : report.ToText());
  if (!options.stores_design && !report.only_checked) {
    bool has_key_schema = false;
    for (const auto& [table, counts] : report.tables) {
      STELE_ASSIGN_OR_RETURN(const Schema schema, design.TableSchema(table));
      has_key_schema = has_key_schema || schema.properties().contains("row_key_schema");
    }
    NoteUnstored(session, has_key_schema);
  }
  if (report.left_out > 0) session.SkippedSome();
  return absl::OkStatus();
}

#else

absl::Status RunLoad(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("load");
}

#endif

}  // namespace stele::cli
