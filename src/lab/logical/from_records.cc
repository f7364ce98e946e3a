// logical/from_records.cc: makes one operation of a logical trace of each record of a data file.
#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "io/output_file.h"
#include "keys/utf8.h"
#include "lab/compare/workload.h"
#include "lab/design/map_fields.h"
#include "lab/design/row_mapping.h"
#include "lab/load/query_inputs.h"
#include "lab/logical/time_order.h"
#include "lab/records/record_input.h"
#include "lab/values/time_text.h"
#include "lab/workload/logical_trace.h"
#include "stele/lab/logical_trace.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::RecordsToLogicalOptions;
using stele::lab::RecordsToLogicalReport;

constexpr uint64_t kReadingPeriod = 256;  // records between two reports of progress

absl::StatusOr<int64_t> TimeOfRecord(const FieldSource& record, const std::string& field) {
  const auto text = record.Text(field);
  if (!text.has_value()) return InvalidArgument("the field \"{}\" is absent", Printable(field));
  const auto micros = ParseTime(*text);
  if (micros.has_value()) return *micros;
  return InvalidArgument(
      "the field \"{}\" is \"{}\", which is no time from 1970 on: RFC 3339, or digits of seconds "
      "(10), milliseconds (13) or microseconds (16)",
      Printable(field), Printable(*text));
}

absl::StatusOr<RecordInput> FindRecords(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) && !FormatOfFile(path)) {
    return InvalidArgument(
        "{}: the ending states no format: .csv, .tsv, .jsonl or .dynamodb, before .gz or .zst",
        Printable(path));
  }
  return RecordInput::Find(DesignInput{.name = "INPUT"}, path);
}

// Makes operations of records.
class RecordOperations {
 public:
  RecordOperations(std::string path, const RecordsToLogicalOptions& options,
                   const std::function<absl::Status(std::string_view)>& write)
      : path_(std::move(path)),
        options_(options),
        write_(write),
        order_([this](std::string_view line) { Write(line); }) {}
  RecordOperations(const RecordOperations&) = delete;
  RecordOperations& operator=(const RecordOperations&) = delete;

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

  // Writes the operations.
  absl::StatusOr<RecordsToLogicalReport> Make() {
    STELE_ASSIGN_OR_RETURN(const RecordInput input, FindRecords(path_));
    STELE_ASSIGN_OR_RETURN(const uint64_t count, Read(input));
    if (order_.count() == 0 && bad_ > 0)
      return WithContext(first_bad_, fmt::format("none of {} {} can be used; the first", bad_,
                                                 bad_ == 1 ? "record" : "records"));
    if (order_.count() == 0)
      return InvalidArgument("{} has no record{}", Printable(path_),
                             count > 0 ? " of the table" : "");
    if (options_.progress) options_.progress("writing", 0, order_.count());
    order_.Finish();
    STELE_RETURN_IF_ERROR(written_);
    return RecordsToLogicalReport{.written_operations = order_.count(),
                                  .left_out = bad_,
                                  .first_error = std::string(ToStd(first_bad_.message()))};
  }

 private:
  // Returns the number of records.
  absl::StatusOr<uint64_t> Read(const RecordInput& input) {
    uint64_t done = 0;
    uint64_t count = 0;
    for (size_t file = 0; file < input.file_count(); ++file) {
      STELE_ASSIGN_OR_RETURN(const auto reader, input.Open(file));
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
        if (!any) break;
        if (options_.stop.stop_requested()) return MakingStopped();
        if (++count % kReadingPeriod == 0 && options_.progress)
          options_.progress("reading", done + reader->stored_bytes(), input.stored_bytes());
        STELE_RETURN_IF_ERROR(Take(input.file_name(file), *reader));
        STELE_RETURN_IF_ERROR(written_);
      }
      done += reader->stored_bytes();
    }
    return count;
  }

  static absl::Status MakingStopped() { return Cancelled("the trace was stopped"); }

  // The first error ends the work.
  void Write(std::string_view line) {
    if (!written_.ok()) return;
    written_ = options_.stop.stop_requested() ? MakingStopped() : write_(line);
  }

  absl::Status Take(const std::string& file, const RecordReader& reader) {
    const absl::Status added = Add(reader);
    if (added.ok()) return added;
    absl::Status bad = WithContext(added, fmt::format("{}:{}", file, reader.line_number()));
    if (!options_.skips_bad) return bad;
    if (++bad_ == 1) first_bad_ = std::move(bad);
    return absl::OkStatus();
  }

  absl::Status Add(const RecordReader& reader) {
    STELE_RETURN_IF_ERROR(reader.status());
    if (!IsRow(reader.fields())) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const int64_t micros,
                           TimeOfRecord(reader.fields(), options_.time_field));
    STELE_ASSIGN_OR_RETURN(const Design::Record record, FieldsOf(reader));
    std::string line = LogicalLine(options_.query, !written_input_.empty(), record, micros);
    if (line.size() > kLogicalLineBytesMax)
      return InvalidArgument("the operation has more than {} bytes", kLogicalLineBytesMax);
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

  absl::StatusOr<Design::Record> FieldsOf(const RecordReader& reader) const {
    if (!uses_.empty()) return UsedFields(reader.fields());
    STELE_ASSIGN_OR_RETURN(Design::Record record, reader.AllFields());
    for (const auto& [field, value] : record) {
      if (FirstNotUtf8(field).has_value())
        return InvalidArgument(
            "the name of the field \"{}\" is not UTF-8: choose other "
            "fields with RecordsToLogicalOptions::designs",
            Printable(field));
    }
    return record;
  }

  absl::StatusOr<Design::Record> UsedFields(const FieldSource& source) const {
    Design::Record record;
    for (const std::string& field : fields_)
      if (const auto text = source.Text(field)) record.emplace(field, *text);
    for (const QueryInputs& use : uses_)
      STELE_RETURN_IF_ERROR(use.Check(source, MapFields(record)));
    return record;
  }

  const std::string path_;
  const RecordsToLogicalOptions& options_;
  const std::function<absl::Status(std::string_view)>& write_;
  std::vector<QueryInputs> uses_;              // of each design
  std::set<std::string, std::less<>> fields_;  // of uses_
  std::string written_input_;                  // "": the query reads
  absl::Status written_;
  TimeOrder order_;
  uint64_t bad_ = 0;
  absl::Status first_bad_;
};

absl::Status CheckRecordOptions(const RecordsToLogicalOptions& options) {
  if (options.query.empty()) return InvalidArgument("RecordsToLogicalOptions::query is empty");
  if (FirstNotUtf8(options.query).has_value())
    return InvalidArgument("RecordsToLogicalOptions::query is \"{}\", and must be UTF-8",
                           Printable(options.query));
  if (options.time_field.empty())
    return InvalidArgument(
        "RecordsToLogicalOptions::time_field is empty, and must name the field with the time of a "
        "record");
  if (!options.table.empty() && options.designs.empty())
    return InvalidArgument("RecordsToLogicalOptions::table is set, and needs designs");
  return absl::OkStatus();
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<RecordsToLogicalReport> RecordsToLogicalTrace(
    const std::string& input_path, const RecordsToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write) {
  STELE_RETURN_IF_ERROR(internal::lab::CheckRecordOptions(options));
  STELE_ASSIGN_OR_RETURN(const auto choices,
                         internal::lab::ChooseTables(options.designs, options.table,
                                                     "RecordsToLogicalOptions::table"));
  std::vector<std::string> inputs = {input_path};
  for (const Design& design : options.designs) inputs.push_back(design.name());
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(options.output_paths, inputs));
  internal::lab::RecordOperations operations(input_path, options, write);
  STELE_RETURN_IF_ERROR(operations.UseDesigns(choices));
  return operations.Make();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
