#include "logical/trace_logical.h"

#include "base/status.h"
#include "command.h"
#include "compare/designs.h"
#include "flags.h"
#include "listing.h"
#include "stele/lab/logical_trace.h"

namespace stele::cli {
namespace {

constexpr FlagSpec kLogicalFlags[] = {
    {"design"}, {"table"}, {"input", true, true}, {"skip-bad", false}};

// What was left out, for people and as the exit status.
void NoteCounts(Session& session, const lab::TraceToLogicalReport& report) {
  for (const std::string& note : report.notes) session.Note(fmt::format("stele: {}\n", note));
  uint64_t sum = 0;
  for (const auto& [reason, count] : report.left_out) sum += count;
  if (sum > 0) {
    session.Note(fmt::format("stele: left out {} of {}:\n", sum,
                             Counted(report.recorded_operations, "operation", "operations")));
  }
  for (const auto& [reason, count] : report.left_out)
    session.Note(fmt::format("  {:>9}  {}\n", count, reason));
  if (report.skipped_lines > 0) {
    session.Note(fmt::format("stele: left out {} of the trace\n",
                             Counted(report.skipped_lines, "wrong line or damaged block",
                                     "wrong lines or damaged blocks")));
  }
  if (sum + report.skipped_lines > 0) session.SkippedSome();
}

}  // namespace

absl::Status PrintLogical(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kLogicalFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("trace logical always prints JSON lines");
  if (flags.words().size() != 1) return WrongUsage("trace");
  if (!flags.has("design")) return UsageError("trace logical needs --design DESIGN");
  lab::TraceToLogicalOptions options{.table = flags.Get("table", ""),
                                     .skips_bad = flags.has("skip-bad"),
                                     .output_paths = {session.options().output}};
  STELE_ASSIGN_OR_RETURN(options.inputs, ParseInputs(flags.All("input")));
  STELE_ASSIGN_OR_RETURN(const std::vector<DesignTableChoice> designs,
                         LoadDesigns(flags.All("design"), options.table));
  STELE_ASSIGN_OR_RETURN(const lab::TraceToLogicalReport report,
                         lab::TraceToLogicalTrace(flags.words()[0], designs[0].design, options,
                                                  [&](std::string_view lines) {
                                                    session.Print(lines);
                                                    return absl::OkStatus();
                                                  }));
  NoteCounts(session, report);
  return absl::OkStatus();
}

}  // namespace stele::cli
