#include "logical/from_records.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "command.h"
#include "compare/designs.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab/design/map_fields.h"
#include "lab/design/row_mapping.h"
#include "lab/load/query_inputs.h"
#include "lab/records/record_input.h"
#include "lab/values/time_text.h"
#include "lab/workload/logical_trace.h"
#include "listing.h"
#include "logical/time_order.h"
#include "progress.h"
#include "row_text.h"

namespace stele::cli {
namespace {

using internal::lab::DesignInput;
using internal::lab::DesignRow;
using internal::lab::FieldSource;
using internal::lab::QueryInputs;
using internal::lab::RecordInput;
using internal::lab::RecordReader;

constexpr FlagSpec kFromRecordsFlags[] = {
    {"query"}, {"time"}, {"design", true, true}, {"table"}, {"skip-bad", false}};
constexpr uint64_t kProgressPeriod = 256;

struct FromRecordsOptions {
  std::string input;
  std::string query;
  std::string time_field;
  bool skips_bad = false;
};

absl::StatusOr<int64_t> TimeOf(const FieldSource& record, const std::string& field) {
  const auto text = record.Text(field);
  if (!text.has_value())
    return internal::InvalidArgument("the field \"{}\" is absent", internal::Printable(field));
  const auto micros = internal::lab::ParseTime(*text);
  if (micros.has_value()) return *micros;
  return internal::InvalidArgument(
      "the field \"{}\" is \"{}\", which is no time from 1970 on: RFC 3339, or digits of seconds "
      "(10), milliseconds (13) or microseconds (16)",
      internal::Printable(field), internal::Printable(*text));
}

absl::StatusOr<RecordInput> FindInput(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) && !internal::lab::FormatOfFile(path)) {
    return internal::InvalidArgument(
        "{}: the ending states no format: .csv, .tsv, .jsonl or .dynamodb, before .gz or .zst",
        internal::Printable(path));
  }
  return RecordInput::Find(DesignInput{.name = "INPUT"}, path);
}

// Makes operations of records.
class RecordOperations {
 public:
  RecordOperations(FromRecordsOptions options, Session* session)
      : options_(std::move(options)),
        order_([session](std::string_view line) { session->Print(line); }) {}

  // Fields are those that the query uses in these designs. No design: all fields.
  absl::Status UseDesigns(const std::vector<DesignTableChoice>& designs) {
    if (designs.empty()) return absl::OkStatus();
    for (const DesignTableChoice& choice : designs) {
      STELE_ASSIGN_OR_RETURN(QueryInputs use,
                             QueryInputs::Find(choice.design, choice.table, options_.query));
      use.AddFieldsTo(&fields_);
      uses_.push_back(std::move(use));
    }
    STELE_ASSIGN_OR_RETURN(written_input_, WrittenInputOf(designs, options_.query));
    return absl::OkStatus();
  }

  // Prints the operations, and returns the number of records that were left out.
  absl::StatusOr<uint64_t> Print() {
    STELE_ASSIGN_OR_RETURN(const RecordInput input, FindInput(options_.input));
    PhaseProgress bar;
    uint64_t done = 0;
    uint64_t count = 0;
    for (size_t file = 0; file < input.file_count(); ++file) {
      STELE_ASSIGN_OR_RETURN(const auto reader, input.Open(file));
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
        if (!any) break;
        if (++count % kProgressPeriod == 0)
          bar.Set("reading", done + reader->stored_bytes(), input.stored_bytes());
        STELE_RETURN_IF_ERROR(Take(input.file_name(file), *reader));
      }
      done += reader->stored_bytes();
    }
    bar.End();
    if (order_.count() == 0 && bad_ > 0)
      return Within(
          fmt::format("none of {} can be used; the first", Counted(bad_, "record", "records")),
          first_bad_);
    if (order_.count() == 0)
      return internal::InvalidArgument("{} has no record{}", internal::Printable(options_.input),
                                       count > 0 ? " of the table" : "");
    order_.Finish();
    return bad_;
  }

 private:
  absl::Status Take(const std::string& file, const RecordReader& reader) {
    const absl::Status added = Add(reader);
    if (added.ok()) return added;
    absl::Status bad = Within(fmt::format("{}:{}", file, reader.line_number()), added);
    if (!options_.skips_bad) return bad;
    if (++bad_ == 1) first_bad_ = std::move(bad);
    return absl::OkStatus();
  }

  absl::Status Add(const RecordReader& reader) {
    STELE_RETURN_IF_ERROR(reader.status());
    if (!IsRow(reader.fields())) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const int64_t micros, TimeOf(reader.fields(), options_.time_field));
    STELE_ASSIGN_OR_RETURN(const lab::Design::Record record, FieldsOf(reader));
    std::string line =
        internal::lab::LogicalLine(options_.query, !written_input_.empty(), record, micros);
    if (line.size() > internal::lab::kLogicalLineBytesMax)
      return internal::InvalidArgument("the operation has more than {} bytes",
                                       internal::lab::kLogicalLineBytesMax);
    return order_.Add(micros, std::move(line));
  }

  // False if the query writes, and no row of the table has this record: `load` ignores it, too.
  bool IsRow(const FieldSource& record) const {
    if (written_input_.empty()) return true;
    const std::vector<DesignRow>& rows = uses_[0].table().rows;
    return std::any_of(rows.begin(), rows.end(), [&](const DesignRow& row) {
      return row.input == written_input_ && Selects(row, record);
    });
  }

  absl::StatusOr<lab::Design::Record> FieldsOf(const RecordReader& reader) const {
    if (!uses_.empty()) return UsedFields(reader.fields());
    STELE_ASSIGN_OR_RETURN(lab::Design::Record record, reader.AllFields());
    for (const auto& [field, value] : record) {
      if (!IsUtf8(field))
        return internal::InvalidArgument(
            "the name of the field \"{}\" is not UTF-8: choose other fields with --design",
            internal::Printable(field));
    }
    return record;
  }

  absl::StatusOr<lab::Design::Record> UsedFields(const FieldSource& source) const {
    lab::Design::Record record;
    for (const std::string& field : fields_)
      if (const auto text = source.Text(field)) record.emplace(field, *text);
    for (const QueryInputs& use : uses_)
      STELE_RETURN_IF_ERROR(use.Check(source, internal::lab::MapFields(record)));
    return record;
  }

  const FromRecordsOptions options_;
  std::vector<QueryInputs> uses_;              // of each design
  std::set<std::string, std::less<>> fields_;  // of uses_
  std::string written_input_;                  // "": the query reads
  TimeOrder order_;
  uint64_t bad_ = 0;
  absl::Status first_bad_;
};

absl::StatusOr<FromRecordsOptions> ParseFromRecords(const Flags& flags) {
  if (flags.words().size() != 1) return WrongUsage("trace");
  FromRecordsOptions options{.input = flags.words()[0],
                             .query = flags.Get("query", ""),
                             .time_field = flags.Get("time", ""),
                             .skips_bad = flags.has("skip-bad")};
  if (options.query.empty()) return UsageError("trace from-records needs --query NAME");
  if (!IsUtf8(options.query)) return UsageError("--query must be UTF-8");
  if (options.time_field.empty())
    return UsageError("trace from-records needs --time FIELD, the field with the time of a record");
  if (flags.has("table") && !flags.has("design")) return UsageError("--table needs --design");
  return options;
}

}  // namespace

absl::Status PrintFromRecords(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kFromRecordsFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  if (as_json) return UsageError("trace from-records always prints JSON lines");
  STELE_ASSIGN_OR_RETURN(FromRecordsOptions options, ParseFromRecords(flags));
  std::vector<std::string> inputs = flags.All("design");
  STELE_ASSIGN_OR_RETURN(const std::vector<DesignTableChoice> designs,
                         LoadDesigns(inputs, flags.Get("table", "")));
  inputs.push_back(options.input);
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({session.options().output}, inputs));
  RecordOperations operations(std::move(options), &session);
  STELE_RETURN_IF_ERROR(operations.UseDesigns(designs));
  STELE_ASSIGN_OR_RETURN(const uint64_t bad, operations.Print());
  if (bad > 0) {
    session.Note(fmt::format("stele: left out {}\n", Counted(bad, "record", "records")));
    session.SkippedSome();
  }
  return absl::OkStatus();
}

}  // namespace stele::cli
