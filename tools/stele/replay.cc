// tools/stele/replay.cc: the verb replay: runs a recorded trace against a database.
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "listing.h"
#include "progress.h"
#include "report_file.h"
#ifdef STELE_HAS_LAB
#include "replay/operation_source.h"
#include "replay/options.h"
#include "replay/report.h"
#include "replay/report_page.h"
#include "replay/runner.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kReplayFlags[] = {{"design"},  {"table"},  {"map"},   {"rate"},
                                     {"threads"}, {"warmup"}, {"limit"}, {"writes"},
                                     {"seed"},    {"hgrm"},   {"hlog"},  {"skip-bad", false}};

absl::Status WriteHistograms(const ReplayOptions& options, const ReplayResult& result) {
  if (!options.hgrm_path.empty())
    STELE_RETURN_IF_ERROR(ReplaceFile(options.hgrm_path, result.Sum().latencies.PercentileText()));
  if (options.hlog_path.empty()) return absl::OkStatus();
  return ReplaceFile(options.hlog_path,
                     internal::lab::IntervalLog::Head() + result.intervals.Lines(""));
}

}  // namespace

absl::Status RunReplay(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kReplayFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (flags.words().size() != 1) return WrongUsage("replay");
  STELE_ASSIGN_OR_RETURN(const ReplayOptions options, ParseReplayOptions(flags));
  STELE_ASSIGN_OR_RETURN(const std::string report_path, TakeReportFile(session));
  const std::vector<std::string> outputs = {report_path, options.hgrm_path, options.hlog_path};
  STELE_RETURN_IF_ERROR(session.CheckOutputs(outputs));
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(
      outputs, {options.trace_path, options.design_path, session.options().trace}));
  STELE_RETURN_IF_ERROR(CheckAreDifferent(outputs));
  STELE_RETURN_IF_ERROR(CheckOutputDirectories(outputs));
  STELE_ASSIGN_OR_RETURN(
      const Database database,
      session.Open(options.writes == ReplayOptions::Writes::kSkip ? Session::Access::kRead
                                                                  : Session::Access::kWrite));
  STELE_ASSIGN_OR_RETURN(const auto source, OpenSource(options, database));
  Progress progress("replaying", "operations", 0);
  STELE_ASSIGN_OR_RETURN(const ReplayResult result,
                         Replay(options, *source, [&](uint64_t count) { progress.Set(count); }));
  progress.End();
  const std::string& location = session.options().database;
  const ReplayReport report = MakeReplayReport(options, result, location);
  session.KeepOutput();  // also after an error
  STELE_RETURN_IF_ERROR(WriteReportForms(
      session, report_path, as_json,
      {.text = [&] { return ReplayText(report); },
       .json = [&] { return ReplayJson(options, result, location); },
       .page = [&] { return ReplayPage(report, result, options.pace.is_open_loop()); }}));
  STELE_RETURN_IF_ERROR(WriteHistograms(options, result));
  STELE_RETURN_IF_ERROR(result.end);
  uint64_t errors = 0;
  for (const auto& [code, count] : result.errors) errors += count;
  if (result.skipped_lines > 0) {
    session.Note(fmt::format("stele: left out {} of the trace\n",
                             Counted(result.skipped_lines, "wrong line or damaged block",
                                     "wrong lines or damaged blocks")));
    session.SkippedSome();
  }
  if (errors == 0) return absl::OkStatus();
  return internal::Aborted("{} failed, the first one with: {}",
                           Counted(errors, "operation", "operations"), result.first_error);
}

#else

absl::Status RunReplay(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("replay");
}

#endif

}  // namespace stele::cli
