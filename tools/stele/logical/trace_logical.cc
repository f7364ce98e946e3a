#include "logical/trace_logical.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/status.h"
#include "command.h"
#include "compare/designs.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab/design/map_fields.h"
#include "lab/trace/trace_reader.h"
#include "lab/workload/logical_trace.h"
#include "listing.h"
#include "logical/query_match.h"
#include "logical/written_records.h"

namespace stele::cli {
namespace {

using internal::TraceOp;
using internal::TraceRecord;
using internal::lab::GivenInputs;
using internal::lab::MapFields;
using internal::lab::QueryInputs;
using internal::lab::RecordInput;

constexpr FlagSpec kLogicalFlags[] = {
    {"design"}, {"table"}, {"input", true, true}, {"skip-bad", false}};

// Converts the operations of one table.
class LogicalConverter {
 public:
  LogicalConverter(QueryMatcher matcher, const GivenInputs& inputs, Session* session)
      : matcher_(std::move(matcher)), written_(matcher_.uses(), inputs), session_(session) {}

  // Prints the operations, and the counts of those that are left out.
  absl::Status Print(const std::string& path, bool skips_bad) {
    STELE_RETURN_IF_ERROR(ForEach(path, skips_bad, [&](const TraceRecord& operation) {
      const bool is_write = operation.op == TraceOp::kSet && IsOfTable(operation.table);
      return is_write && WritesSome() ? written_.AddRow(operation.row) : absl::OkStatus();
    }));
    STELE_RETURN_IF_ERROR(written_.ReadInputs());
    STELE_RETURN_IF_ERROR(ForEach(path, skips_bad, [&](const TraceRecord& operation) {
      Convert(operation);
      return absl::OkStatus();
    }));
    if (operations_ + skipped_ == 0)
      return internal::InvalidArgument("{} has no operation", internal::Printable(path));
    NoteCounts();
    return absl::OkStatus();
  }

 private:
  // In the order of time.
  absl::Status ForEach(const std::string& path, bool skips_bad,
                       const std::function<absl::Status(const TraceRecord&)>& take) {
    STELE_ASSIGN_OR_RETURN(const auto reader, internal::lab::TraceReader::Open(path, skips_bad));
    TraceRecord record;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader->Next(&record));
      if (!any) break;
      STELE_RETURN_IF_ERROR(take(record));
    }
    skipped_ = reader->skipped();
    return absl::OkStatus();
  }

  bool WritesSome() const {
    return std::any_of(matcher_.uses().begin(), matcher_.uses().end(),
                       [](const QueryInputs& use) { return !use.query().read.has_value(); });
  }

  // A server's traces have names such as projects/p/instances/i/tables/orders.
  bool IsOfTable(const std::string& name) const {
    return name == matcher_.table().name || name.ends_with("/" + matcher_.table().name);
  }

  void Convert(const TraceRecord& operation) {
    ++operations_;
    if (!IsOfTable(operation.table)) return LeaveOut("the operation is on another table");
    QueryMatch match = Match(operation);
    if (!match.reason.empty()) return LeaveOut(match.reason);
    if (match.continues) return;
    const std::string line = internal::lab::LogicalLine(
        match.query->name, !match.query->read.has_value(), match.fields, operation.micros);
    if (line.size() > internal::lab::kLogicalLineBytesMax)
      return LeaveOut(
          fmt::format("its fields have more than {} bytes", internal::lab::kLogicalLineBytesMax));
    session_->Print(line);
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
    const WrittenRecords::Written& written = written_.Find(row_key);
    if (written.query != nullptr) return {.query = written.query, .fields = written.record};
    auto fields = matcher_.FieldsOfKey(row_key);
    if (!fields.has_value())
      return {.reason = "set: no record has its row key, which tells no fields"};
    for (const QueryInputs& use : matcher_.uses()) {
      if (use.query().read.has_value()) continue;
      if (use.Check(MapFields(*fields), MapFields(*fields)).ok())
        return {.query = &use.query(), .fields = *std::move(fields)};
    }
    return {.reason = "set: no record has its row key, whose fields alone make no cell"};
  }

  void LeaveOut(const std::string& reason) { ++left_out_[reason]; }

  void NoteCounts() const {
    for (const std::string& note : written_.notes())
      session_->Note(fmt::format("stele: {}\n", note));
    uint64_t sum = 0;
    for (const auto& [reason, count] : left_out_) sum += count;
    if (sum > 0) {
      session_->Note(fmt::format("stele: left out {} of {}:\n", sum,
                                 Counted(operations_, "operation", "operations")));
    }
    for (const auto& [reason, count] : left_out_)
      session_->Note(fmt::format("  {:>9}  {}\n", count, reason));
    if (skipped_ > 0) {
      session_->Note(fmt::format(
          "stele: left out {} of the trace\n",
          Counted(skipped_, "wrong line or damaged block", "wrong lines or damaged blocks")));
    }
    if (sum + skipped_ > 0) session_->SkippedSome();
  }

  const QueryMatcher matcher_;
  WrittenRecords written_;
  Session* const session_;
  uint64_t operations_ = 0;
  uint64_t skipped_ = 0;                      // wrong lines and damaged blocks
  std::map<std::string, uint64_t> left_out_;  // by reason
};

// Returns an error if the output is a file that is read.
absl::Status CheckOutput(const Session& session, const std::string& trace,
                         const internal::lab::DesignModel& design, const GivenInputs& given) {
  std::vector<std::string> files = {trace, design.file};
  for (const internal::lab::DesignInput& input : design.inputs) {
    const auto found = RecordInput::FindOf(design, input, given);
    if (found.ok()) files.push_back(found->path());
  }
  return internal::CheckOutputsAreNotInputs({session.options().output}, files);
}

}  // namespace

absl::Status PrintLogical(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kLogicalFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("trace logical always prints JSON lines");
  if (flags.words().size() != 1) return WrongUsage("trace");
  if (!flags.has("design")) return UsageError("trace logical needs --design DESIGN");
  const std::string& trace = flags.words()[0];
  STELE_ASSIGN_OR_RETURN(const GivenInputs inputs, ParseInputs(flags.All("input")));
  STELE_ASSIGN_OR_RETURN(const std::vector<DesignTableChoice> designs,
                         LoadDesigns(flags.All("design"), flags.Get("table", "")));
  STELE_ASSIGN_OR_RETURN(QueryMatcher matcher,
                         QueryMatcher::Make(designs[0].design, designs[0].table));
  const internal::lab::DesignModel& model = matcher.uses()[0].model();
  STELE_RETURN_IF_ERROR(CheckGiven(model, inputs));
  STELE_RETURN_IF_ERROR(CheckOutput(session, trace, model, inputs));
  return LogicalConverter(std::move(matcher), inputs, &session).Print(trace, flags.has("skip-bad"));
}

}  // namespace stele::cli
