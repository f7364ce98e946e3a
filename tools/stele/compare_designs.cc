// tools/stele/compare_designs.cc: the verb compare-designs: runs one workload on several designs.
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "progress.h"
#include "report_file.h"
#ifdef STELE_HAS_LAB
#include "compare/compared_design.h"
#include "compare/options.h"
#include "compare/report.h"
#include "compare/report_json.h"
#include "compare/report_page.h"
#include "compare/runner.h"
#include "compare/work_directory.h"
#include "compare/workload.h"
#include "lab/workload/logical_trace.h"
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

}  // namespace

absl::Status RunCompareDesigns(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kCompareFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (flags.words().size() < 2) return WrongUsage("compare-designs");
  STELE_ASSIGN_OR_RETURN(CompareOptions options, ParseCompareOptions(flags));
  STELE_ASSIGN_OR_RETURN(options.output_path, TakeReportFile(session));
  if (const auto path = flags.Find("estimate")) {
    STELE_ASSIGN_OR_RETURN(options.estimate, ReadEstimateFile(*path));
  }
  STELE_ASSIGN_OR_RETURN(const auto choices, LoadDesigns(options));
  PhaseProgress bar;
  const CompareProgress progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    bar.Set(phase, done, total);
  };
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(
      {options.output_path},
      {options.trace_path, options.keep_directory, flags.Get("estimate", "")}));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, DatabaseBytes(choices, options));
  STELE_RETURN_IF_ERROR(WorkDirectory::CheckSpace(options.keep_directory, bytes));
  STELE_ASSIGN_OR_RETURN(LogicalWorkload workload,
                         options.trace_path.empty()
                             ? MakeWorkload(choices, options, progress)
                             : internal::lab::ReadLogicalTrace(options.trace_path, choices));
  if (options.pace.needs_times() && !workload.has_times)
    return internal::InvalidArgument("{} has no times: use --rate N/s, or --rate max",
                                     internal::Printable(options.trace_path));
  // Before there are other threads, which would get the signals.
  STELE_ASSIGN_OR_RETURN(const auto directory, WorkDirectory::Make(options.keep_directory));
  std::vector<std::unique_ptr<ComparedDesign>> designs;
  for (const DesignTableChoice& choice : choices) {
    STELE_ASSIGN_OR_RETURN(
        auto design, ComparedDesign::Load(choice, workload, options, directory->path(), progress));
    workload.notes.insert(workload.notes.end(), design->notes().begin(), design->notes().end());
    designs.push_back(std::move(design));
  }
  STELE_ASSIGN_OR_RETURN(const CompareResult result,
                         Compare(designs, workload, options, directory->path(), progress));
  bar.End();
  const CompareReport report = MakeReport(options, workload, result);
  STELE_RETURN_IF_ERROR(
      WriteReportForms(session, options.output_path, as_json,
                       {.text = [&] { return CompareText(report); },
                        .json = [&] { return CompareJson(options, workload, result); },
                        .page = [&] { return ComparePage(report, workload, result); }}));
  if (result.answers_equal < result.answers_compared) session.SkippedSome();
  return absl::OkStatus();
}

#else

absl::Status RunCompareDesigns(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("compare-designs");
}

#endif

}  // namespace stele::cli
