// logical/trace_logical.cc: converts a recorded trace to a logical trace.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/status.h"
#include "io/output_file.h"
#include "lab/compare/workload.h"
#include "lab/design/map_fields.h"
#include "lab/logical/query_match.h"
#include "lab/logical/written_records.h"
#include "lab/trace/trace_reader.h"
#include "lab/workload/logical_trace.h"
#include "stele/lab/logical_trace.h"

namespace stele::internal::lab {
namespace {

using stele::lab::TraceToLogicalOptions;
using stele::lab::TraceToLogicalReport;

// Converts the operations of one table.
class LogicalConverter {
 public:
  LogicalConverter(QueryMatcher matcher, const TraceToLogicalOptions& options,
                   const std::function<absl::Status(std::string_view)>& write)
      : matcher_(std::move(matcher)),
        options_(options),
        write_(write),
        written_(matcher_.query_inputs(), options.inputs, options.stop) {}

  // Writes the operations, and counts those that are left out.
  absl::StatusOr<TraceToLogicalReport> Run(const std::string& path) {
    STELE_RETURN_IF_ERROR(ForEach(path, [&](const TraceRecord& operation) {
      const bool is_write = operation.op == TraceOp::kSet && IsOfTable(operation.table);
      return is_write && WritesSome() ? written_.AddRow(operation.row) : absl::OkStatus();
    }));
    STELE_RETURN_IF_ERROR(written_.ReadInputs());
    STELE_RETURN_IF_ERROR(
        ForEach(path, [&](const TraceRecord& operation) { return Convert(operation); }));
    if (report_.recorded_operations + report_.skipped_lines == 0)
      return InvalidArgument("{} has no operation", Printable(path));
    report_.notes = written_.notes();
    return std::move(report_);
  }

 private:
  // In the order of time.
  absl::Status ForEach(const std::string& path,
                       const std::function<absl::Status(const TraceRecord&)>& take) {
    STELE_ASSIGN_OR_RETURN(const auto reader,
                           TraceReader::Open(path, options_.skips_bad, options_.stop));
    TraceRecord record;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader->Next(&record));
      if (!any) break;
      if (options_.stop.stop_requested()) return Cancelled("the conversion was stopped");
      STELE_RETURN_IF_ERROR(take(record));
    }
    report_.skipped_lines = reader->skipped_lines();
    return absl::OkStatus();
  }

  bool WritesSome() const {
    return std::any_of(matcher_.query_inputs().begin(), matcher_.query_inputs().end(),
                       [](const QueryInputs& use) { return !use.query().read.has_value(); });
  }

  // A server's traces have names such as projects/p/instances/i/tables/orders.
  bool IsOfTable(const std::string& name) const {
    return name == matcher_.table().name || name.ends_with("/" + matcher_.table().name);
  }

  absl::Status Convert(const TraceRecord& operation) {
    ++report_.recorded_operations;
    if (!IsOfTable(operation.table)) return LeaveOut("the operation is on another table");
    QueryMatch match = Match(operation);
    if (!match.reason.empty()) return LeaveOut(match.reason);
    if (match.continues_fan_out) return absl::OkStatus();
    const std::string line = LogicalLine(match.query->name, !match.query->read.has_value(),
                                         match.fields, operation.micros);
    if (line.size() > kLogicalLineBytesMax)
      return LeaveOut(fmt::format("its fields have more than {} bytes", kLogicalLineBytesMax));
    ++report_.written_operations;
    return write_(line);
  }

  QueryMatch Match(const TraceRecord& operation) const {
    switch (operation.op) {
      case TraceOp::kGet:
      case TraceOp::kMget:
      case TraceOp::kScan:
        return matcher_.MatchRead(operation);
      case TraceOp::kSet:
        return MatchWrite(operation.row);
      case TraceOp::kDel:
        return {.reason = "del: a design has no query that deletes"};
      case TraceOp::kRmw:
        return {.reason = "rmw: a design has no query that increments"};
      case TraceOp::kCas:
        return {.reason = "cas: a design has no query with a condition"};
      case TraceOp::kDrop:
        return {.reason = "drop: a design has no query that drops rows"};
    }
    return {.reason = "an unknown operation"};
  }

  QueryMatch MatchWrite(const std::string& row_key) const {
    if (!WritesSome()) return {.reason = "set: no query of the table writes"};
    const WrittenRecords::Written* const written = written_.Find(row_key);
    if (written != nullptr) return {.query = written->query, .fields = written->record};
    auto fields = matcher_.FieldsOfKey(row_key);
    if (!fields.has_value())
      return {.reason = "set: no record has its row key, which tells no fields"};
    for (const QueryInputs& use : matcher_.query_inputs()) {
      if (use.query().read.has_value()) continue;
      if (use.Check(MapFields(*fields), MapFields(*fields)).ok())
        return {.query = &use.query(), .fields = *std::move(fields)};
    }
    return {.reason = "set: no record has its row key, whose fields alone make no cell"};
  }

  absl::Status LeaveOut(const std::string& reason) {
    ++report_.left_out[reason];
    return absl::OkStatus();
  }

  const QueryMatcher matcher_;
  const TraceToLogicalOptions& options_;
  const std::function<absl::Status(std::string_view)>& write_;
  WrittenRecords written_;
  TraceToLogicalReport report_;
};

// Returns an error if an output is a file that is read.
absl::Status CheckLogicalOutputs(const TraceToLogicalOptions& options, const std::string& trace,
                                 const DesignModel& design) {
  std::vector<std::string> files = {trace, design.file};
  for (const DesignInput& input : design.inputs) {
    const auto found = RecordInput::FindOf(design, input, options.inputs);
    if (found.ok()) files.push_back(found->path());
  }
  return CheckOutputsAreNotInputs(options.output_paths, files);
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<TraceToLogicalReport> TraceToLogicalTrace(
    const std::string& trace_path, const Design& design, const TraceToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write) {
  STELE_ASSIGN_OR_RETURN(
      const auto choices,
      internal::lab::ChooseTables({design}, options.table, "TraceToLogicalOptions::table"));
  STELE_ASSIGN_OR_RETURN(internal::lab::QueryMatcher matcher,
                         internal::lab::QueryMatcher::Make(design, choices[0].table));
  const internal::lab::DesignModel& model = matcher.query_inputs()[0].model();
  STELE_RETURN_IF_ERROR(internal::lab::CheckGiven(model, options.inputs));
  STELE_RETURN_IF_ERROR(internal::lab::CheckLogicalOutputs(options, trace_path, model));
  return internal::lab::LogicalConverter(std::move(matcher), options, write).Run(trace_path);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
