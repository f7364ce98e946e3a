// tools/stele/replay.cc: the verb replay: the flags of stele/lab/replay.h.
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "listing.h"
#include "progress.h"
#include "report_file.h"
#ifdef STELE_HAS_LAB
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compare/designs.h"
#include "replay/options.h"
#include "stele/lab/replay.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kReplayFlags[] = {{"design"},  {"table"},  {"map"},   {"rate"},
                                     {"threads"}, {"warmup"}, {"limit"}, {"writes"},
                                     {"seed"},    {"hgrm"},   {"hlog"},  {"skip-bad", false}};

absl::Status WriteHistograms(const ReplayFlags& flags, const lab::ReplayReport& report) {
  if (!flags.hgrm_path.empty())
    STELE_RETURN_IF_ERROR(ReplaceFile(flags.hgrm_path, report.Sum().latencies.PercentileText()));
  if (flags.hlog_path.empty()) return absl::OkStatus();
  return ReplaceFile(flags.hlog_path, report.interval_log);
}

// Loads the design of a logical trace, and chooses its table.
absl::Status LoadReplayDesign(ReplayFlags* flags) {
  if (flags->design_path.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(std::vector<DesignTableChoice> choices,
                         LoadDesigns({flags->design_path}, flags->options.design_table));
  flags->options.design = std::move(choices[0].design);
  flags->options.design_table = std::move(choices[0].table);
  return absl::OkStatus();
}

// Names the flags instead of the options of the library.
absl::Status WithFlags(const absl::Status& status) {
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"another ReplayOptions::rate", "--rate N/s, or --rate max"},
      {"ReplayOptions::tables", "--map OLD=NEW"},
      {"ReplayOptions::threads", "--threads"}};
  std::string text(status.message());
  for (const auto& [option, flag] : kFlags) {
    const size_t at = text.rfind(option);
    if (at != std::string::npos) text.replace(at, option.size(), flag);
  }
  return internal::MakeStatus(status.code(), text);
}

// Tells what was left out, and returns the error of the command.
absl::Status EndOfReplay(Session& session, const lab::ReplayReport& report) {
  if (!report.is_trace_complete)
    session.Note(
        fmt::format("stele: the recording did not end normally, or still runs: the trace has its "
                    "complete blocks only; operations that were read: {}\n",
                    report.trace_operations));
  STELE_RETURN_IF_ERROR(report.end);
  if (report.skipped_lines > 0) {
    session.Note(fmt::format("stele: left out {} of the trace\n",
                             Counted(report.skipped_lines, "wrong line or damaged block",
                                     "wrong lines or damaged blocks")));
    session.SkippedSome();
  }
  if (report.error_count() == 0) return absl::OkStatus();
  return internal::Aborted("{} failed, the first one with: {}",
                           Counted(report.error_count(), "operation", "operations"),
                           report.first_error);
}

}  // namespace

absl::Status RunReplay(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kReplayFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (flags.words().size() != 1) return WrongUsage("replay");
  STELE_ASSIGN_OR_RETURN(ReplayFlags replay, ParseReplayFlags(flags));
  STELE_ASSIGN_OR_RETURN(const std::string report_path, TakeReportFile(session));
  const std::vector<std::string> outputs = {report_path, replay.hgrm_path, replay.hlog_path};
  STELE_RETURN_IF_ERROR(session.CheckOutputs(outputs));
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs(outputs, {replay.trace_path, replay.design_path}));
  STELE_RETURN_IF_ERROR(CheckAreDifferent(outputs));
  STELE_RETURN_IF_ERROR(CheckOutputDirectories(outputs));
  replay.options.stop = session.TakeStopSignals();
  STELE_ASSIGN_OR_RETURN(
      const Database database,
      session.Open(replay.options.writes == lab::ReplayWrites::kSkip ? Session::Access::kRead
                                                                     : Session::Access::kWrite));
  STELE_RETURN_IF_ERROR(LoadReplayDesign(&replay));
  std::optional<Progress> progress;  // from the first operation on
  replay.options.location = session.options().database;
  replay.options.progress = [&](uint64_t count) {
    if (!progress.has_value()) progress.emplace("replaying", "operations", 0);
    progress->Set(count);
  };
  const absl::StatusOr<lab::ReplayReport> replayed =
      lab::Replay(database, replay.trace_path, replay.options);
  if (!replayed.ok()) return WithFlags(replayed.status());
  const lab::ReplayReport& report = *replayed;
  progress.reset();
  session.KeepOutput();  // also after an error
  STELE_RETURN_IF_ERROR(WriteReportForms(session, report_path, as_json,
                                         {.text = [&] { return report.ToText(); },
                                          .json = [&] { return report.ToJson(STELE_VERSION); },
                                          .page = [&] { return report.ToHtml(); }}));
  STELE_RETURN_IF_ERROR(WriteHistograms(replay, report));
  return EndOfReplay(session, report);
}

#else

absl::Status RunReplay(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("replay");
}

#endif

}  // namespace stele::cli
