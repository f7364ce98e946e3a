#include "replay/operation_source.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compare/logical_trace.h"
#include "compare/prepared_operation.h"
#include "compare/workload.h"
#include "lab/trace/trace_reader.h"

namespace stele::cli {
namespace {

// Reads a recorded trace.
class TraceSource : public OperationSource {
 public:
  TraceSource(const ReplayOptions& options, const Database& database)
      : options_(options), database_(database) {}

  absl::Status Open() {
    STELE_ASSIGN_OR_RETURN(
        reader_, internal::lab::TraceReader::Open(options_.trace_path, options_.skips_bad));
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayResult* result) override {
    ReplayOperation operation;
    while (!options_.limit.has_value() || read_ < *options_.limit) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader_->Next(&operation.record));
      result->skipped_lines = reader_->skipped();
      if (!any) return std::nullopt;
      if (read_++ == 0) first_micros_ = operation.record.micros;
      result->sample = std::max(result->sample, operation.record.sample);
      const std::string_view why = SkipReason(operation.record, options_.writes);
      if (!why.empty()) {
        ++result->skipped[why];
        continue;
      }
      STELE_ASSIGN_OR_RETURN(const std::optional<Table> table, FindTable(operation.record.table));
      if (!table.has_value()) {
        ++result->skipped["operations on tables that the database does not have"];
        continue;
      }
      operation.name = NameOf(operation.record.op);
      operation.micros = operation.record.micros - first_micros_;
      operation.table = *table;
      operation.number = replayed_++;
      return operation;
    }
    return std::nullopt;
  }

  uint64_t read() const override { return read_; }

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
      return internal::NotFound(
          "the trace uses the table \"{}\", and the database has no table \"{}\"; --map OLD=NEW "
          "replays on another table",
          internal::Printable(name), internal::Printable(target));
    }
    if (!table.ok() && !is_missing) return table.status();
    std::optional<Table> found;
    if (table.ok()) found = *std::move(table);
    return tables_[name] = found;
  }

  const ReplayOptions& options_;
  Database database_;
  std::unique_ptr<internal::lab::TraceReader> reader_;
  std::map<std::string, std::optional<Table>> tables_;  // by the name in the trace
  uint64_t read_ = 0;                                   // operations of the trace
  uint64_t replayed_ = 0;                               // those that are replayed
  int64_t first_micros_ = 0;
};

// Runs the queries of a logical trace through a design.
class LogicalSource : public OperationSource {
 public:
  LogicalSource(const ReplayOptions& options, DesignTableChoice choice, CompareWorkload workload,
                Table table)
      : options_(options),
        choice_(std::move(choice)),
        workload_(std::move(workload)),
        table_(std::move(table)) {}

  absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayResult* result) override {
    const uint64_t end =
        std::min<uint64_t>(options_.limit.value_or(UINT64_MAX), workload_.operations.size());
    while (read_ < end) {
      const CompareOperation& from = workload_.operations[read_++];
      const CompareQuery& query = workload_.queries[from.query];
      if (!query.input.empty() && options_.writes == ReplayOptions::Writes::kSkip) {
        ++result->skipped[kSkippedWrites];
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
  // Of a cell without a timestamp. Whole milliseconds fit every table.
  static Timestamp Now() {
    const Timestamp now = Timestamp::From(std::chrono::system_clock::now());
    return Timestamp::FromMicros(now.micros() / 1000 * 1000);
  }

  const ReplayOptions& options_;
  const DesignTableChoice choice_;
  const CompareWorkload workload_;
  const Table table_;
  uint64_t read_ = 0;
  uint64_t replayed_ = 0;
};

absl::StatusOr<std::unique_ptr<OperationSource>> OpenLogical(const ReplayOptions& options,
                                                             const Database& database) {
  STELE_ASSIGN_OR_RETURN(
      std::vector<DesignTableChoice> choices,
      LoadDesigns({.design_paths = {options.design_path}, .table = options.design_table}));
  STELE_ASSIGN_OR_RETURN(CompareWorkload workload, ReadLogicalTrace(options.trace_path, choices));
  if (options.pace.needs_times() && !workload.has_times)
    return internal::InvalidArgument("{} has no times: use --rate N/s, or --rate max",
                                     internal::Printable(options.trace_path));
  const auto mapped = options.tables.find(choices[0].table);
  STELE_ASSIGN_OR_RETURN(
      Table table,
      database.OpenTable(mapped == options.tables.end() ? choices[0].table : mapped->second));
  return std::make_unique<LogicalSource>(options, std::move(choices[0]), std::move(workload),
                                         std::move(table));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OperationSource>> OpenSource(const ReplayOptions& options,
                                                            const Database& database) {
  if (!options.design_path.empty()) return OpenLogical(options, database);
  auto source = std::make_unique<TraceSource>(options, database);
  STELE_RETURN_IF_ERROR(source->Open());
  return source;
}

}  // namespace stele::cli
