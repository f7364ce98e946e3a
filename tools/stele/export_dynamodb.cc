// tools/stele/export_dynamodb.cc: the verb export dynamodb: writes items of DynamoDB.
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "stele/lab/dynamodb.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kExportFlags[] = {{"mapping"}, {"keep-index", false}};

bool NamesDirectory(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

absl::StatusOr<lab::DynamoDbExportOptions> ParseExportFlags(Session& session, const Flags& flags) {
  if (flags.words().empty()) return WrongUsage("export dynamodb");
  STELE_ASSIGN_OR_RETURN(const KeyValues values, ParseKeyValues(std::span(flags.words()).subspan(1),
                                                                {"prefix", "start", "end"}));
  lab::DynamoDbExportOptions options{.table = flags.words()[0],
                                     .mapping_path = flags.Get("mapping", "")};
  STELE_ASSIGN_OR_RETURN(options.rows, ParseRange(values));
  options.keeps_indexes = flags.has("keep-index");
  if (NamesDirectory(session.options().output)) {
    options.directory = session.options().output;
    session.SetOutput("");
  }
  return options;
}

}  // namespace

absl::Status RunExportDynamoDb(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kExportFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("export dynamodb writes DynamoDB JSON, and has no --format");
  STELE_ASSIGN_OR_RETURN(lab::DynamoDbExportOptions options, ParseExportFlags(session, flags));
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs({session.options().output}, {options.mapping_path}));
  STELE_RETURN_IF_ERROR(session.CheckOutputs({options.directory}));
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kRead));
  Progress progress("exporting", "items", 0);
  uint64_t item_count = 0;
  std::string line;
  options.write = [&](std::string_view item) {
    line.assign(item).push_back('\n');
    session.Print(line);
    progress.Set(++item_count);
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(const lab::DynamoDbExportReport report,
                         lab::ExportDynamoDb(database, options));
  progress.End();
  if (report.rows_left_out == 0) return absl::OkStatus();
  session.SkippedSome();
  session.Note(
      fmt::format("{} rows are no items of an import, and were left out:\n", report.rows_left_out));
  for (const std::string& text : report.listed) session.Note("  " + text + "\n");
  return absl::OkStatus();
}

#else

absl::Status RunExportDynamoDb(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("export dynamodb");
}

#endif

}  // namespace stele::cli
