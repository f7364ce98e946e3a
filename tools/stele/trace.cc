// tools/stele/trace.cc: the verb trace: shows, converts and draws traces.
#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "listing.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "compare/designs.h"
#include "compare/options.h"
#include "lab/trace_info/convert_trace.h"
#include "logical/from_records.h"
#include "logical/trace_logical.h"
#include "stele/lab/logical_trace.h"
#include "stele/lab/trace.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kTraceFlags[] = {{"skip-bad", false}};
constexpr FlagSpec kSynthFlags[] = {{"input", true, true}, {"table"}, {"operations"},
                                    {"distribution"},      {"seed"},  {"rate"}};

// What was left out, for people and as the exit status.
void NoteSkipped(Session& session, uint64_t skipped) {
  if (skipped == 0) return;
  session.Note(fmt::format(
      "stele: left out {} of the trace\n",
      Counted(skipped, "wrong line or damaged block", "wrong lines or damaged blocks")));
  session.SkippedSome();
}

// A recording that was killed loses what was not in a complete block.
void NoteCutOff(Session& session, bool is_complete) {
  if (is_complete) return;
  session.Note(
      "stele: the recording did not end normally, or still runs: the trace has its complete blocks "
      "only\n");
}

absl::StatusOr<lab::TraceForm> FormOf(const std::string& output) {
  constexpr std::pair<std::string_view, lab::TraceForm> kEndings[] = {
      {".trace", lab::TraceForm::kBinary},
      {".jsonl", lab::TraceForm::kJsonLines},
      {".jsonl.zst", lab::TraceForm::kJsonLinesZstd}};
  if (output.empty()) return lab::TraceForm::kJsonLines;
  for (const auto& [ending, form] : kEndings)
    if (output.ends_with(ending)) return form;
  return UsageError("-o must end with .trace, .jsonl or .jsonl.zst");
}

absl::Status PrintTrace(Session& session, const std::string& path, bool skips_bad) {
  STELE_ASSIGN_OR_RETURN(const lab::TraceForm form, FormOf(session.options().output));
  bool is_complete = true;
  const auto print = [&](std::string_view part) {
    session.Print(part);
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(const uint64_t skipped,
                         internal::lab::ConvertTrace(path, form, print, skips_bad, &is_complete));
  NoteCutOff(session, is_complete);
  NoteSkipped(session, skipped);
  return absl::OkStatus();
}

// Parses operations per second: "500/s" or "500".
absl::StatusOr<double> ParseSynthRate(const std::string& text) {
  if (const auto rate = PositiveBefore(text, text.ends_with("/s") ? "/s" : "")) return *rate;
  return UsageError(fmt::format(
      "trace synth: --rate must be operations per second such as 500 or 500/s, not \"{}\"",
      internal::Printable(text)));
}

// Prints a logical trace of drawn operations.
absl::Status PrintDrawn(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kSynthFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("trace synth always prints JSON lines");
  if (flags.words().empty()) return WrongUsage("trace");
  STELE_ASSIGN_OR_RETURN(const double rate, ParseSynthRate(flags.Get("rate", "1000/s")));
  STELE_ASSIGN_OR_RETURN(const CompareFlags parsed, ParseCompareFlags(flags, Pace::Max()));
  STELE_ASSIGN_OR_RETURN(const auto choices,
                         LoadDesigns(parsed.design_paths, parsed.options.table));
  PhaseProgress bar;
  lab::CompareOptions options = parsed.options;
  options.output_paths = {session.options().output};
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    bar.Set(phase, done, total);
  };
  for (const DesignTableChoice& choice : choices) options.designs.push_back(choice.design);
  return lab::SynthesizeLogicalTrace(options, rate, [&](std::string_view lines) {
    session.Print(lines);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RunTrace(Session& session, const std::vector<std::string>& args) {
  constexpr std::pair<std::string_view, absl::Status (*)(Session&, const std::vector<std::string>&)>
      kLogical[] = {
          {"synth", PrintDrawn}, {"from-records", PrintFromRecords}, {"logical", PrintLogical}};
  for (const auto& [word, print] : kLogical) {
    if (!args.empty() && args[0] == word)
      return print(session, std::vector<std::string>(args.begin() + 1, args.end()));
  }
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kTraceFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  const std::vector<std::string>& words = flags.words();
  if (words.size() != 2) return WrongUsage("trace");
  const std::string& path = words[1];
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({session.options().output}, {path}));
  if (words[0] == "cat" && as_json) return UsageError("trace cat always prints JSON lines");
  if (words[0] == "cat") return PrintTrace(session, path, flags.has("skip-bad"));
  if (words[0] != "info") return WrongUsage("trace");
  STELE_ASSIGN_OR_RETURN(const lab::TraceInfo info,
                         lab::TraceInfo::Read(path, flags.has("skip-bad")));
  session.Print(as_json ? info.ToJson() : info.ToText());
  NoteCutOff(session, !info.is_binary || info.is_complete);
  NoteSkipped(session, info.skipped_lines);
  return absl::OkStatus();
}

#else

absl::Status RunTrace(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("trace");
}

#endif

}  // namespace stele::cli
