// tools/stele/copy.cc: the verb copy. It copies tables between any two locations that
// OpenLocation opens.
#include <chrono>
#include <optional>
#include <utility>

#include "arguments.h"
#include "base/checksum.h"
#include "base/status.h"
#include "command.h"
#include "copy_marks.h"
#include "copy_plan.h"
#include "copy_rows.h"
#include "copy_source.h"
#include "copy_verify.h"
#include "io/output_file.h"
#include "keys/printable.h"
#include "listing.h"
#include "location.h"
#include "row_text.h"

namespace stele::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The arguments, split. "--name VALUE", "--name=VALUE" and "name=VALUE" are equivalent; "--verify"
// means verify=true. The remaining arguments are places.
struct CopyWords {
  std::vector<std::string> places;
  std::vector<std::string> values;
};

absl::StatusOr<CopyWords> SplitWords(const std::vector<std::string>& args) {
  CopyWords words;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("--")) {
      // The first two arguments are locations. A later argument with '=' is an option, because a
      // table name has no '='.
      const bool is_value = words.places.size() >= 2 && args[i].find('=') != std::string::npos;
      (is_value ? words.values : words.places).push_back(args[i]);
      continue;
    }
    const std::string flag = args[i].substr(2);
    if (flag == "verify") {
      words.values.push_back("verify=true");
    } else if (flag.find('=') != std::string::npos) {
      words.values.push_back(flag);
    } else if (i + 1 < args.size()) {
      words.values.push_back(flag + "=" + args[++i]);
    } else {
      return UsageError(fmt::format("flag --{} needs a value", flag));
    }
  }
  return words;
}

absl::StatusOr<size_t> ParseCount(const KeyValues& values, std::string_view name, size_t otherwise,
                                  int64_t most) {
  const auto text = Find(values, name);
  if (!text.has_value()) return otherwise;
  STELE_ASSIGN_OR_RETURN(const int64_t number, ParseNumber(name, *text));
  if (number < 1 || number > most) return UsageError(fmt::format("{} must be 1 to {}", name, most));
  return static_cast<size_t>(number);
}

absl::StatusOr<CopyRequest> ParseCopyRequest(const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(CopyWords words, SplitWords(args));
  if (words.places.size() < 2) return WrongUsage("copy");
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(words.values, {"to", "prefix", "start", "end", "resume",
                                                       "verify", "batch-size", "workers"}));
  for (const std::string& location : {words.places[0], words.places[1]})
    STELE_RETURN_IF_ERROR(CheckLocation(location));
  CopyRequest request{.source = words.places[0], .destination = words.places[1]};
  request.tables.assign(words.places.begin() + 2, words.places.end());
  request.to = Find(values, "to").value_or("");
  request.state_path = Find(values, "resume").value_or("");
  STELE_ASSIGN_OR_RETURN(request.rows, ParseRange(values));
  if (request.rows.IsEmpty())
    return UsageError(fmt::format("the range {} contains no row", request.rows.ToString()));
  STELE_ASSIGN_OR_RETURN(request.batch_rows,
                         ParseCount(values, "batch-size", request.batch_rows, 100'000));
  STELE_ASSIGN_OR_RETURN(request.workers, ParseCount(values, "workers", request.workers, 64));
  if (const auto text = Find(values, "verify")) {
    STELE_ASSIGN_OR_RETURN(request.verify, ParseBool("verify", *text));
  }
  return request;
}

// Has the whole row keys, since RowRange::ToString cuts long ones.
std::string ParametersText(const CopyRequest& request) {
  Json parameters = {{"source", request.source},
                     {"destination", request.destination},
                     {"tables", request.tables},
                     {"to", request.to},
                     {"start", internal::EscapedBytes(request.rows.start())},
                     {"start_bound", static_cast<int>(request.rows.start_bound())},
                     {"end", internal::EscapedBytes(request.rows.end())},
                     {"end_bound", static_cast<int>(request.rows.end_bound())}};
  return parameters.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string StatePath(const CopyRequest& request, const std::string& parameters) {
  if (!request.state_path.empty()) return request.state_path;
  if (request.destination == kInMemory) return "";  // the copy exists only during this run
  const std::string& beside =
      IsDirectory(request.destination) ? request.destination : request.source;
  return IsDirectory(beside)
             ? fmt::format("{}.copy-{:016x}", beside, internal::Checksum64(parameters))
             : "";
}

// True if the rows that a mark records still exist. They do not if the table was emptied or created
// again, or if a server lost it.
absl::StatusOr<bool> AreThere(const CopyTable& table, const TableMark& mark) {
  if (table.is_new) return false;
  for (const PartMark& part : mark.parts) {
    if (part.last_row.empty()) continue;
    STELE_ASSIGN_OR_RETURN(const bool is_there, table.destination.Exists(part.last_row));
    if (!is_there) return false;
  }
  return true;
}

absl::Status BeginOrGoOn(Session& session, const CopyRequest& request, const CopyTable& table,
                         CopyMarks& marks) {
  TableMark mark = marks.Get(table.source_name, table.destination_name);
  if (!mark.parts.empty()) {
    STELE_ASSIGN_OR_RETURN(const bool are_there, AreThere(table, mark));
    if (are_there) {
      session.Note(fmt::format("{}: resuming after {} rows copied by an earlier run\n",
                               table.source_name, mark.Sum().rows));
      return absl::OkStatus();
    }
    session.Note(fmt::format(
        "{}: {} records rows as copied that are not at the destination: starting again\n",
        table.source_name, marks.path()));
  }
  STELE_ASSIGN_OR_RETURN(mark.parts, CutIntoParts(table.source, request.rows));
  return marks.Set(std::move(mark));
}

absl::Status Verify(Session& session, const CopyRequest& request, const Snapshot& snapshot,
                    const CopyTable& table) {
  STELE_ASSIGN_OR_RETURN(const Comparison comparison,
                         CompareTables(table.source, snapshot, table.destination,
                                       table.source_schema.families(), request.rows));
  if (comparison.rows_different == 0) {
    session.Note(
        fmt::format("Verified {}: {} rows are the same.\n", table.source_name, comparison.rows));
    return absl::OkStatus();
  }
  std::string examples;
  for (const std::string& example : comparison.examples)
    examples += fmt::format("{}\"{}\"", examples.empty() ? "" : ", ", example);
  return internal::FailedPrecondition(
      "table \"{}\": {} of {} compared rows differ at the destination{}: {}", table.source_name,
      comparison.rows_different, comparison.rows,
      comparison.is_cut_off ? ", and the comparison stopped there" : "", examples);
}

absl::StatusOr<CopySource> OpenCopied(Session& session, const CopyRequest& request) {
  DatabaseOptions options;
  options.on_damage = session.options().on_damage;
  options.create_if_missing = false;
  // Open a directory read-only, unless the copy also writes to it. A server's database has no lock.
  options.read_only = IsDirectory(request.source) && request.source != request.destination;
  auto source = OpenCopySource(session, request.source, options);
  return source.ok() ? source : Within("source", source.status());
}

absl::StatusOr<Database> OpenDestination(Session& session, const CopyRequest& request,
                                         const CopySource& source) {
  if (request.source == request.destination) return source.database;
  auto destination = OpenCopyDestination(session, request.destination, source);
  return destination.ok() ? destination : Within("destination", destination.status());
}

// The objects that one run uses.
struct CopyRun {
  const CopyRequest& request;
  Database destination;
  Snapshot snapshot;
  std::vector<CopyTable> tables;
};

absl::Status CopyTables(Session& session, CopyRun& run, CopyMarks& marks) {
  Listing listing{.names = {"table", "copy", "rows", "cells", "bytes", "seconds"}};
  for (CopyTable& table : run.tables) {
    const Clock::time_point start = Clock::now();
    const std::string within = fmt::format("copying table \"{}\"", table.source_name);
    STELE_RETURN_IF_ERROR(Within(within, BeginOrGoOn(session, run.request, table, marks)));
    STELE_RETURN_IF_ERROR(
        Within(within, CopyRows(run.request, run.snapshot, run.destination, table, marks)));
    const CopyCounts sum = marks.Get(table.source_name, table.destination_name).Sum();
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
    const double seconds = static_cast<double>(milliseconds) / 1000;
    session.Note(fmt::format("Copied {} to {}: {} rows, {} cells, {} bytes in {:.1f} s.\n",
                             table.source_name, table.destination_name, sum.rows, sum.cells,
                             sum.bytes, seconds));
    listing.records.push_back(
        {table.source_name, table.destination_name, sum.rows, sum.cells, sum.bytes, seconds});
  }
  if (session.options().format != Format::kText)
    session.Print(ListingText(listing, session.options().format));
  return absl::OkStatus();
}

absl::Status VerifyTables(Session& session, const CopyRun& run) {
  for (const CopyTable& table : run.tables)
    STELE_RETURN_IF_ERROR(Verify(session, run.request, run.snapshot, table));
  return absl::OkStatus();
}

absl::Status PlanAndCopy(Session& session, CopyRun& run, CopyMarks& marks) {
  STELE_RETURN_IF_ERROR(FitTables(session, run.request, run.destination, run.tables));
  STELE_RETURN_IF_ERROR(marks.Read());
  if (run.snapshot.is_empty())
    session.Note("The source has no snapshots: each row is copied as it is when it is read.\n");
  STELE_RETURN_IF_ERROR(MakeTables(run.destination, run.tables));
  STELE_RETURN_IF_ERROR(CopyTables(session, run, marks));
  const absl::Status verified = run.request.verify ? VerifyTables(session, run) : absl::OkStatus();
  // If the tables differ, a later copy must start from the beginning.
  STELE_RETURN_IF_ERROR(marks.Remove());
  return verified;
}

}  // namespace

absl::Status RunCopy(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(CopyRequest request, ParseCopyRequest(args));
  request.source = NormalLocation(request.source);
  request.destination = NormalLocation(request.destination);
  for (const std::string& location : {request.source, request.destination}) {
    if (IsDirectory(location))
      STELE_RETURN_IF_ERROR(
          internal::CheckOutputsAreNotInputs({session.options().output}, {location}));
  }
  if (request.source != request.destination && IsDirectory(request.source) &&
      IsDirectory(request.destination))
    STELE_RETURN_IF_ERROR(
        internal::CheckOutputsAreNotInputs({request.destination}, {request.source}));
  const std::string parameters = ParametersText(request);
  CopyMarks marks(StatePath(request, parameters), parameters);
  STELE_ASSIGN_OR_RETURN(const CopySource source, OpenCopied(session, request));
  CopyRun run{.request = request, .destination = {}, .snapshot = {}, .tables = {}};
  STELE_ASSIGN_OR_RETURN(run.tables, FindTables(request, source.database));
  STELE_ASSIGN_OR_RETURN(run.snapshot, SnapshotWhereOffered(source.database));
  STELE_ASSIGN_OR_RETURN(run.destination, OpenDestination(session, request, source));
  const absl::Status copied = PlanAndCopy(session, run, marks);
  const absl::Status closed = run.destination.Close();
  return copied.ok() ? Within("closing the destination", closed) : copied;
}

}  // namespace stele::cli
