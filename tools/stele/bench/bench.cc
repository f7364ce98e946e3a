// tools/stele/bench/bench.cc: the verb bench: measures standard workloads on any location.
#include "base/status.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "bench/table.h"
#include "command.h"
#include "location.h"

namespace stele::cli {
namespace {

// Prints the first operations of thread 0 of each workload. Opens nothing.
absl::Status PrintOperations(Session& session, const BenchOptions& options) {
  for (const Workload* const workload : options.workloads) {
    InsertCounter inserts(options.operations.rows);
    OperationStream stream(options.operations, *workload, 0, &inserts);
    for (uint64_t i = 0; i < *options.dry_run; ++i)
      session.Print(ToText(stream.Next(), options.keys) + "\n");
  }
  return absl::OkStatus();
}

// The bytes of a local database; nothing for a server.
std::optional<uint64_t> DiskBytes(const Session& session, const Database& database) {
  if (IsRemote(session.options().database)) return std::nullopt;
  const DatabaseStats stats = database.Stats();
  return stats.disk.log_bytes + stats.disk.sstable_bytes;
}

absl::Status RunAll(Session& session, const BenchOptions& options, const Database& database,
                    const Table& table) {
  std::vector<BenchResult> results;
  uint64_t errors = 0;
  std::string failed;
  for (const Workload* const workload : options.workloads) {
    STELE_ASSIGN_OR_RETURN(BenchResult result, RunWorkload(options, *workload, table));
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

}  // namespace

absl::Status RunBench(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) return WrongUsage("bench");
  STELE_ASSIGN_OR_RETURN(BenchOptions options, ParseBenchOptions(args));
  if (options.dry_run.has_value()) return PrintOperations(session, options);
  STELE_ASSIGN_OR_RETURN(Database database, session.Open(Session::Access::kCreate));
  STELE_ASSIGN_OR_RETURN(const BenchTable prepared, PrepareBenchTable(&database, options));
  if (options.load == BenchOptions::Load::kOnly) options.workloads.clear();
  session.Print(
      BenchHeader(options, session.options().format, session.options().database, prepared.load));
  const absl::Status ran = RunAll(session, options, database, prepared.table);
  if (!prepared.is_created || options.keeps_table) return ran;
  const absl::Status deleted = database.DeleteTable(options.table);
  return ran.ok() ? deleted : ran;
}

}  // namespace stele::cli
