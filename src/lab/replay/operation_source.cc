#include "lab/replay/operation_source.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "keys/printable.h"
#include "lab/trace/trace_fields.h"
#include "lab/trace/trace_reader.h"
#include "lab/workload/logical_trace.h"
#include "lab/workload/logical_workload.h"
#include "lab/workload/prepared_operation.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ReplayOptions;
using stele::lab::ReplayReport;
using stele::lab::ReplayWrites;

// Reads a recorded trace.
class RecordedOperations : public OperationSource {
 public:
  RecordedOperations(const ReplayOptions& options, const Database& database)
      : options_(options), database_(database) {}

  absl::Status Open(const std::string& path) {
    STELE_ASSIGN_OR_RETURN(reader_, TraceReader::Open(path, options_.skips_bad, options_.stop));
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayReport* report) override {
    ReplayOperation operation;
    while (options_.operations_max == 0 || read_ < options_.operations_max) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader_->Next(&operation.record));
      report->skipped_lines = reader_->skipped_lines();
      if (!any) return std::nullopt;
      if (options_.stop.stop_requested()) return ReplayStopped();
      if (read_++ == 0) first_micros_ = operation.record.micros;
      report->sample = std::max(report->sample, operation.record.sample);
      const std::string_view why = SkipReason(operation.record, options_.writes);
      if (!why.empty()) {
        ++report->skipped_operations[std::string(why)];
        continue;
      }
      STELE_ASSIGN_OR_RETURN(const std::optional<Table> table, FindTable(operation.record.table));
      if (!table.has_value()) {
        ++report->skipped_operations["operations on tables that the database does not have"];
        continue;
      }
      operation.name = TraceOpName(operation.record.op);
      operation.micros = operation.record.micros - first_micros_;
      operation.table = *table;
      operation.number = replayed_++;
      return operation;
    }
    return std::nullopt;
  }

  uint64_t read() const override { return read_; }
  bool is_complete() const override { return reader_->is_complete(); }

 private:
  // Returns nothing for a missing table, unless it is the first one.
  absl::StatusOr<std::optional<Table>> FindTable(const std::string& name) {
    const auto known = tables_.find(name);
    if (known != tables_.end()) return known->second;
    const auto mapped = options_.tables.find(name);
    const std::string& target = mapped == options_.tables.end() ? name : mapped->second;
    absl::StatusOr<Table> table = database_.OpenTable(target);
    const bool is_missing = table.status().code() == absl::StatusCode::kNotFound ||
                            table.status().code() == absl::StatusCode::kInvalidArgument;
    if (is_missing && tables_.empty()) {
      return NotFound(
          "the trace uses the table \"{}\", and the database has no table \"{}\"; name another one "
          "with ReplayOptions::tables",
          Printable(name), Printable(target));
    }
    if (!table.ok() && !is_missing) return table.status();
    std::optional<Table> found;
    if (table.ok()) found = *std::move(table);
    return tables_[name] = found;
  }

  const ReplayOptions& options_;
  Database database_;
  std::unique_ptr<TraceReader> reader_;
  std::map<std::string, std::optional<Table>> tables_;  // by the name in the trace
  uint64_t read_ = 0;                                   // operations of the trace
  uint64_t replayed_ = 0;                               // those that are replayed
  int64_t first_micros_ = 0;
};

// Runs the queries of a logical trace through a design.
class LogicalOperations : public OperationSource {
 public:
  LogicalOperations(const ReplayOptions& options, DesignTableChoice choice,
                    LogicalWorkload workload, Table table)
      : options_(options),
        choice_(std::move(choice)),
        workload_(std::move(workload)),
        table_(std::move(table)) {}

  absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayReport* report) override {
    uint64_t end = workload_.operations.size();
    if (options_.operations_max > 0) end = std::min(end, options_.operations_max);
    while (read_ < end) {
      if (options_.stop.stop_requested()) return ReplayStopped();
      const LogicalOperation& from = workload_.operations[read_++];
      const LogicalQuery& query = workload_.queries[from.query];
      if (!query.input.empty() && options_.writes == ReplayWrites::kSkip) {
        ++report->skipped_operations[std::string(kSkippedWrites)];
        continue;
      }
      ReplayOperation operation{.name = query.name, .micros = from.micros, .table = table_};
      STELE_ASSIGN_OR_RETURN(operation.prepared,
                             PrepareOperation(choice_, query, query.records[from.record], Now()));
      operation.number = replayed_++;
      return operation;
    }
    return std::nullopt;
  }

  uint64_t read() const override { return read_; }

 private:
  // Returns the timestamp of a cell that has none in the trace. Whole milliseconds fit every table.
  static Timestamp Now() {
    const Timestamp now = Timestamp::From(std::chrono::system_clock::now());
    return Timestamp::FromMicros(now.micros() / 1000 * 1000);
  }

  const ReplayOptions& options_;
  const DesignTableChoice choice_;
  const LogicalWorkload workload_;
  const Table table_;
  uint64_t read_ = 0;
  uint64_t replayed_ = 0;
};

// Returns the table of the design that options.design_table names, or the only one with queries.
absl::StatusOr<std::string> TableWithQueries(const ReplayOptions& options) {
  const stele::lab::Design& design = *options.design;
  std::vector<std::string> found;
  bool is_known = options.design_table.empty();
  for (const std::string& table : design.tables()) {
    const bool fits = options.design_table.empty() || options.design_table == table;
    is_known = is_known || fits;
    if (fits && !design.queries(table).empty()) found.push_back(table);
  }
  const std::string file = EscapedBytes(design.name());
  if (!is_known) return NotFound("{} has no table {}", file, EscapedBytes(options.design_table));
  if (found.empty()) {
    return InvalidArgument(
        "{}: {} has no queries, so there is nothing to replay", file,
        options.design_table.empty() ? "it" : "the table " + EscapedBytes(options.design_table));
  }
  if (found.size() > 1) {
    return InvalidArgument("{}: {} tables have queries: set ReplayOptions::design_table", file,
                           found.size());
  }
  return found[0];
}

absl::StatusOr<std::unique_ptr<OperationSource>> OpenLogical(const std::string& path,
                                                             const ReplayOptions& options,
                                                             const Database& database) {
  STELE_ASSIGN_OR_RETURN(const std::string design_table, TableWithQueries(options));
  std::vector<DesignTableChoice> choices = {
      {*options.design, DesignName(options.design->name()), design_table}};
  STELE_ASSIGN_OR_RETURN(LogicalWorkload workload, ReadLogicalTrace(path, choices, options.stop));
  if (options.rate.speed.has_value() && !workload.has_times)
    return InvalidArgument("{} has no times: use another ReplayOptions::rate", Printable(path));
  const auto mapped = options.tables.find(design_table);
  STELE_ASSIGN_OR_RETURN(
      Table table,
      database.OpenTable(mapped == options.tables.end() ? design_table : mapped->second));
  return std::make_unique<LogicalOperations>(options, std::move(choices[0]), std::move(workload),
                                             std::move(table));
}

}  // namespace

absl::Status ReplayStopped() {
  return absl::CancelledError("the replay was stopped; the later operations did not run");
}

bool IsReplayStopped(const ReplayOptions& options, const absl::Status& status) {
  return status.code() == absl::StatusCode::kCancelled && options.stop.stop_requested();
}

absl::StatusOr<std::unique_ptr<OperationSource>> OpenSource(const std::string& trace_path,
                                                            const ReplayOptions& options,
                                                            const Database& database) {
  if (options.design.has_value()) return OpenLogical(trace_path, options, database);
  auto source = std::make_unique<RecordedOperations>(options, database);
  STELE_RETURN_IF_ERROR(source->Open(trace_path));
  return source;
}

}  // namespace stele::internal::lab
