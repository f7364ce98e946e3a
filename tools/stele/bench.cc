// tools/stele/bench.cc: the verb bench: measures standard workloads, and the queries of a
// design, on any location.
#include <algorithm>

#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "key_bytes.h"
#include "keys/printable.h"
#include "lab_files.h"
#include "location.h"
#ifdef STELE_HAS_LAB
#include "bench/options.h"
#include "bench/query_workload.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "bench/table.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

// The operations of a query choose among its records, not among the rows of a table of bench.
BenchOptions OptionsOf(const BenchOptions& options, const Workload& workload) {
  BenchOptions own = options;
  if (workload.query != nullptr) own.operations.rows = workload.query->record_count();
  return own;
}

// Prints the first operations of thread 0 of each workload. Opens no database.
absl::Status PrintOperations(Session& session, const BenchOptions& options) {
  InsertCounter inserts(options.operations.rows);
  for (const Workload* const workload : options.workloads) {
    const BenchOptions own = OptionsOf(options, *workload);
    InsertCounter records(own.operations.rows);  // queries insert no records
    OperationStream stream(own.operations, *workload, 0,
                           workload->query == nullptr ? &inserts : &records);
    for (uint64_t i = 0; i < *options.dry_run; ++i) {
      const Operation& operation = stream.Next();
      if (workload->query == nullptr) {
        session.Print(ToText(operation, options.keys) + "\n");
        continue;
      }
      STELE_ASSIGN_OR_RETURN(const auto read, workload->query->Prepare(operation.row));
      session.Print(read->ToText() + "\n");
    }
  }
  return absl::OkStatus();
}

// The bytes of a local database; nothing for a server.
std::optional<uint64_t> DiskBytes(const Session& session, const Database& database) {
  if (IsRemote(session.options().database)) return std::nullopt;
  const DatabaseStats stats = database.Stats();
  return stats.disk.log_bytes + stats.disk.sstable_bytes;
}

// A stop ends it with Cancelled, without a line of the workload that ran.
absl::Status RunAll(Session& session, const BenchOptions& options, const Database& database,
                    const Table& table) {
  const std::stop_token stop = session.TakeStopSignals();
  std::vector<BenchResult> results;
  uint64_t errors = 0;
  std::string failed;
  InsertCounter inserts(options.operations.rows);
  for (const Workload* const workload : options.workloads) {
    const BenchOptions own = OptionsOf(options, *workload);
    InsertCounter records(own.operations.rows);  // queries insert no records
    STELE_RETURN_IF_ERROR(session.Flush());      // a workload is long
    STELE_ASSIGN_OR_RETURN(
        BenchResult result,
        RunWorkload(own, *workload, table, workload->query == nullptr ? &inserts : &records, stop));
    STELE_RETURN_IF_ERROR(session.StopStatus());
    session.Print(
        BenchLine(options, session.options().format, result, DiskBytes(session, database)));
    STELE_RETURN_IF_ERROR(WritePercentiles(options, result));
    for (const auto& [code, count] : result.errors) errors += count;
    if (failed.empty()) failed = result.first_error;
    results.push_back(std::move(result));
  }
  STELE_RETURN_IF_ERROR(WriteIntervals(options, results));
  if (errors == 0) return absl::OkStatus();
  session.KeepOutput();
  return internal::Aborted("{} operations failed, the first one with: {}", errors, failed);
}

// Measures queries of a design on the table that was loaded before.
absl::Status RunQueries(Session& session, BenchOptions options) {
  STELE_ASSIGN_OR_RETURN(const QueryWorkloads loaded,
                         LoadQueries(options, session.options().output));
  options.table = loaded.table;
  options.query_text = loaded.text;
  for (const auto& query : loaded.queries) options.workloads.push_back(&query->workload());
  if (options.dry_run.has_value()) return PrintOperations(session, options);
  session.TakeStopSignals();
  const auto database = session.Open(Session::Access::kRead);
  auto table = database.ok() ? database->OpenTable(options.table) : database.status();
  // A server reports a missing table only when it is used.
  const absl::Status status = table.ok() ? table->schema().status() : table.status();
  if (status.code() == absl::StatusCode::kNotFound) {
    return internal::NotFound("{} has no table {}: \"stele load\" creates and fills it",
                              session.options().database, EscapedKey(options.table));
  }
  STELE_RETURN_IF_ERROR(status);
  session.Print(BenchHeader(options, session.options().format, session.options().database, {}));
  return RunAll(session, options, *database, *table);
}

}  // namespace

absl::Status RunBench(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) return WrongUsage("bench");
  STELE_ASSIGN_OR_RETURN(BenchOptions options, ParseBenchOptions(args));
  STELE_RETURN_IF_ERROR(TakeOutput(session, options.output, options.format,
                                   {Format::kText, Format::kJson, Format::kCsv},
                                   "text, json or csv"));
  for (const std::string& note : options.notes) session.Note(fmt::format("stele: {}\n", note));
  const std::vector<std::string> outputs = OutputPaths(options, session.options().output);
  STELE_RETURN_IF_ERROR(session.CheckOutputs(outputs));
  STELE_RETURN_IF_ERROR(CheckAreDifferent(outputs));
  STELE_RETURN_IF_ERROR(CheckOutputDirectories(outputs));
  if (!options.design_path.empty()) return RunQueries(session, std::move(options));
  if (options.dry_run.has_value()) return PrintOperations(session, options);
  const std::stop_token stop = session.TakeStopSignals();
  STELE_ASSIGN_OR_RETURN(Database database, session.Open(Session::Access::kCreate));
  STELE_ASSIGN_OR_RETURN(BenchTable prepared, PrepareBenchTable(&database, options, stop));
  if (options.load == BenchOptions::Load::kOnly) options.workloads.clear();
  const bool changes_rows =
      std::any_of(options.workloads.begin(), options.workloads.end(),
                  [](const Workload* workload) { return ChangesRows(*workload); });
  session.Print(
      BenchHeader(options, session.options().format, session.options().database, prepared.load));
  absl::Status ran = changes_rows ? MarkChanged(&prepared.table) : absl::OkStatus();
  if (ran.ok()) ran = RunAll(session, options, database, prepared.table);
  if (!prepared.is_created || options.keeps_table) return ran;
  const absl::Status deleted = database.DeleteTable(options.table);
  if (ran.ok()) return deleted;
  if (!deleted.ok())
    session.Note(fmt::format("stele: the table {} stays: {}\n", EscapedKey(options.table),
                             internal::EscapedMessage(internal::ToStd(deleted.message()))));
  return ran;
}

#else

absl::Status RunBench(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("bench");
}

#endif

}  // namespace stele::cli
