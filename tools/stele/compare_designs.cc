// tools/stele/compare_designs.cc: the verb compare-designs: runs one workload on several designs.
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "progress.h"
#include "report_file.h"
#ifdef STELE_HAS_LAB
#include "compare/designs.h"
#include "compare/options.h"
#include "compare/work_directory.h"
#include "lab/compare/workload.h"
#include "stele/lab/compare.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kCompareFlags[] = {{"input", true, true},
                                      {"table"},
                                      {"operations"},
                                      {"distribution"},
                                      {"threads"},
                                      {"rounds"},
                                      {"seed"},
                                      {"limit"},
                                      {"time"},
                                      {"keep"},
                                      {"trace"},
                                      {"estimate"},
                                      {"rate"},
                                      {"cache"},
                                      {"allow-duplicates", false}};

// Names the flags instead of the options of the library.
absl::Status WithCompareFlags(const absl::Status& status) {
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"another CompareOptions::rate", "--rate N/s, or --rate max"},
      {"CompareOptions::threads", "--threads"}};
  for (const auto& [option, flag] : kFlags) {
    std::string text(status.message());
    const size_t at = text.rfind(option);
    if (at == std::string::npos) continue;
    text.replace(at, option.size(), flag);
    return internal::MakeStatus(status.code(), text);
  }
  return status;
}

}  // namespace

absl::Status RunCompareDesigns(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kCompareFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (flags.words().size() < 2) return WrongUsage("compare-designs");
  STELE_ASSIGN_OR_RETURN(CompareFlags parsed, ParseCompareFlags(flags));
  lab::CompareOptions& options = parsed.options;
  STELE_ASSIGN_OR_RETURN(const std::string output_path, TakeReportFile(session));
  options.output_paths = {output_path};
  options.makes_page = as_json || output_path.ends_with(".html") || output_path.ends_with(".json");
  if (const auto path = flags.Find("estimate")) {
    STELE_ASSIGN_OR_RETURN(options.estimate, lab::EstimateSettings::Load(*path));
  }
  STELE_ASSIGN_OR_RETURN(const auto choices, LoadDesigns(parsed.design_paths, options.table));
  for (const DesignTableChoice& choice : choices) options.designs.push_back(choice.design);
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(
      {output_path}, {options.trace_path, parsed.keep_directory, flags.Get("estimate", "")}));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, internal::lab::DatabaseBytes(choices, options));
  STELE_RETURN_IF_ERROR(WorkDirectory::CheckSpace(parsed.keep_directory, bytes));
  PhaseProgress bar;
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    bar.Set(phase, done, total);
  };
  // Before there are other threads, which would get the signals.
  STELE_ASSIGN_OR_RETURN(const auto directory, WorkDirectory::Make(parsed.keep_directory));
  options.work_directory = directory->path();
  const absl::StatusOr<lab::CompareReport> report = lab::CompareDesigns(options);
  if (!report.ok()) return WithCompareFlags(report.status());
  bar.End();
  STELE_RETURN_IF_ERROR(WriteReportForms(session, output_path, as_json,
                                         {.text = [&] { return report->ToText(); },
                                          .json = [&] { return report->ToJson(STELE_VERSION); },
                                          .page = [&] { return report->ToHtml(); }}));
  if (report->answers_equal < report->answers_compared) session.SkippedSome();
  return absl::OkStatus();
}

#else

absl::Status RunCompareDesigns(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("compare-designs");
}

#endif

}  // namespace stele::cli
