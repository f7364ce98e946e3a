#include "logical/from_records.h"

#include "base/status.h"
#include "command.h"
#include "compare/designs.h"
#include "flags.h"
#include "listing.h"
#include "progress.h"
#include "row_text.h"
#include "stele/lab/logical_trace.h"

namespace stele::cli {
namespace {

constexpr FlagSpec kFromRecordsFlags[] = {
    {"query"}, {"time"}, {"design", true, true}, {"table"}, {"skip-bad", false}};

// Without the designs.
absl::StatusOr<lab::RecordsToLogicalOptions> ParseFromRecords(const Flags& flags) {
  if (flags.words().size() != 1) return WrongUsage("trace");
  lab::RecordsToLogicalOptions options{.query = flags.Get("query", ""),
                                       .time_field = flags.Get("time", ""),
                                       .table = flags.Get("table", ""),
                                       .skips_bad = flags.has("skip-bad")};
  if (options.query.empty()) return UsageError("trace from-records needs --query NAME");
  if (!IsUtf8(options.query)) return UsageError("--query must be UTF-8");
  if (options.time_field.empty())
    return UsageError("trace from-records needs --time FIELD, the field with the time of a record");
  if (flags.has("table") && !flags.has("design")) return UsageError("--table needs --design");
  return options;
}

// Names the flag instead of the option of the library.
absl::Status WithDesignFlag(const absl::Status& status) {
  constexpr std::string_view kOption = "RecordsToLogicalOptions::designs";
  std::string text(status.message());
  const size_t at = text.rfind(kOption);
  if (at != std::string::npos) text.replace(at, kOption.size(), "--design");
  return internal::MakeStatus(status.code(), text);
}

}  // namespace

absl::Status PrintFromRecords(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kFromRecordsFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("trace from-records always prints JSON lines");
  STELE_ASSIGN_OR_RETURN(lab::RecordsToLogicalOptions options, ParseFromRecords(flags));
  STELE_ASSIGN_OR_RETURN(const std::vector<DesignTableChoice> designs,
                         LoadDesigns(flags.All("design"), options.table));
  for (const DesignTableChoice& choice : designs) options.designs.push_back(choice.design);
  options.output_paths = {session.options().output};
  PhaseProgress bar;
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    bar.Set(phase, done, total);
  };
  const auto print = [&](std::string_view lines) {
    session.Print(lines);
    return absl::OkStatus();
  };
  const absl::StatusOr<lab::RecordsToLogicalReport> report =
      lab::RecordsToLogicalTrace(flags.words()[0], options, print);
  if (!report.ok()) return WithDesignFlag(report.status());
  if (report->left_out > 0) {
    session.Note(
        fmt::format("stele: left out {}\n", Counted(report->left_out, "record", "records")));
    session.SkippedSome();
  }
  return absl::OkStatus();
}

}  // namespace stele::cli
