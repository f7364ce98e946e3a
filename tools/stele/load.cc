// tools/stele/load.cc: the verb load: the flags of stele/lab/load.h.
#include <limits>
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

absl::Status ParseBadRecords(const Flags& flags, lab::LoadOptions* options) {
  options->bad_path = flags.Get("bad-file", "");
  const auto skip = flags.Find("skip-bad");
  if (skip.has_value() != flags.has("bad-file"))
    return UsageError("--skip-bad and --bad-file need each other");
  if (!skip.has_value()) return absl::OkStatus();
  if (*skip == "all") {
    options->bad_records_max = std::numeric_limits<uint64_t>::max();
    return absl::OkStatus();
  }
  STELE_ASSIGN_OR_RETURN(const int64_t count, ParseNumber("skip-bad", *skip));
  if (count < 0) return UsageError("--skip-bad must be a number of records, or all");
  options->bad_records_max = static_cast<uint64_t>(count);
  return absl::OkStatus();
}

absl::StatusOr<lab::LoadOptions> ParseLoadFlags(const Flags& flags) {
  lab::LoadOptions options{.table = flags.Get("table", ""),
                           .only_checks = flags.has("check"),
                           .allows_duplicates = flags.has("allow-duplicates")};
  STELE_ASSIGN_OR_RETURN(options.inputs, ParseInputFlags(flags));
  STELE_RETURN_IF_ERROR(ParseBadRecords(flags, &options));
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
  options.stores_design = !IsRemote(session.options().database);
  options.open_database = [&] { return session.Open(Session::Access::kCreate); };
  PhaseProgress progress;
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    progress.Set(phase, done, total);
  };
  STELE_ASSIGN_OR_RETURN(const lab::LoadReport report,
                         lab::LoadDesign(Database(), design, options));
  session.Print(as_json ? report.ToJson() : report.ToText());
  if (report.left_out > 0) session.SkippedSome();
  return absl::OkStatus();
}

#else

absl::Status RunLoad(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("load");
}

#endif

}  // namespace stele::cli
