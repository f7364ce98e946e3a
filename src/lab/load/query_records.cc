#include "lab/load/query_records.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "io/output_file.h"
#include "lab/design/map_fields.h"
#include "lab/design/row_mapping.h"
#include "lab/load/query_inputs.h"
#include "lab/records/record_input.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;

constexpr size_t kKeptBytesMax = size_t{64} << 20;
constexpr size_t kFieldBytes = 128;  // of a field, without its text
constexpr uint64_t kProgressPeriod = 256;

// Keeps every record, or every 2nd, 4th, ... if there are too many.
class EvenSample {
 public:
  explicit EvenSample(size_t records_max) : records_max_(std::max<size_t>(records_max, 1)) {}

  void Add(Design::Record record) {
    if (count_++ % period_ != 0) return;
    bytes_ += BytesIn(record);
    records_.push_back(std::move(record));
    while (records_.size() > 1 && (records_.size() > records_max_ || bytes_ > kKeptBytesMax))
      Halve();
  }

  uint64_t count() const { return count_; }
  std::vector<Design::Record> Take() { return std::move(records_); }

 private:
  static size_t BytesIn(const Design::Record& record) {
    size_t bytes = sizeof record;
    for (const auto& [field, text] : record) bytes += kFieldBytes + field.size() + text.size();
    return bytes;
  }

  void Halve() {
    size_t kept = 0;
    for (size_t i = 0; i < records_.size(); i += 2) {
      if (i != kept) records_[kept] = std::move(records_[i]);
      ++kept;
    }
    records_.resize(kept);
    bytes_ = 0;
    for (const Design::Record& record : records_) bytes_ += BytesIn(record);
    period_ *= 2;
  }

  const size_t records_max_;
  std::vector<Design::Record> records_;
  size_t bytes_ = 0;
  uint64_t count_ = 0;
  uint64_t period_ = 1;
};

// Reads the records that all queries can use.
class QueryRecordsReader {
 public:
  QueryRecordsReader(std::vector<QueryInputs> queries, const QueryRecordsOptions& options)
      : queries_(std::move(queries)), options_(options) {
    for (const QueryInputs& query : queries_) query.AddFieldsTo(&fields_);
  }

  absl::StatusOr<QueryRecords> Read() {
    STELE_RETURN_IF_ERROR(CheckOutputs());
    if (fields_.empty()) return QueryRecords{.usable_records = 1, .records = {{}}};
    absl::Status first;
    for (const DesignInput& input : model().inputs) {
      if (!queries_[0].UsesInput(input.name)) continue;
      const auto files = RecordInput::FindOf(model(), input, options_.inputs);
      if (!files.ok()) {
        if (first.ok()) first = files.status();
        continue;
      }
      STELE_RETURN_IF_ERROR(ReadInput(input.name, *files));
      if (found_.usable_records > 0) return std::move(found_);
      if (first.ok()) first = NothingUsable(input.name);
    }
    if (!first.ok()) return first;
    return InvalidArgument("query \"{}\": no input of the design fills the table {}", query_name(),
                           table_name());
  }

 private:
  const DesignModel& model() const { return queries_[0].model(); }
  std::string query_name() const { return Printable(queries_[0].query().name); }
  std::string table_name() const { return Printable(queries_[0].table().name); }

  absl::Status CheckOutputs() const {
    std::vector<std::string> files;
    for (const QueryInputs& query : queries_) {
      files.push_back(query.model().file);
      for (const DesignInput& input : query.model().inputs) {
        const auto found = RecordInput::FindOf(query.model(), input, options_.inputs);
        if (found.ok()) files.push_back(found->path());
      }
    }
    return CheckOutputsAreNotInputs(options_.output_paths, files);
  }

  absl::Status NothingUsable(const std::string& input) const {
    if (found_.unusable_records == 0)
      return InvalidArgument("query \"{}\": the input \"{}\" has no record of the table {}",
                             query_name(), input, table_name());
    return InvalidArgument("query \"{}\": no record of the input \"{}\" has its fields: {}",
                           query_name(), input, found_.first_error);
  }

  absl::Status ReadInput(const std::string& name, const RecordInput& input) {
    found_ = {.input = name};
    EvenSample sample(options_.records_max);
    uint64_t done = 0;
    uint64_t count = 0;
    for (size_t file = 0; file < input.file_count(); ++file) {
      STELE_ASSIGN_OR_RETURN(const auto reader, input.Open(file));
      while (options_.input_records_max == 0 || count < options_.input_records_max) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
        if (!any) break;
        if (options_.stop.stop_requested()) return Cancelled("the read of the records was stopped");
        if (++count % kProgressPeriod == 0 && options_.progress)
          options_.progress("reading", done + reader->stored_bytes(), input.stored_bytes());
        AddRecord(input.file_name(file), *reader, &sample);
      }
      done += reader->stored_bytes();
    }
    found_.usable_records = sample.count();
    found_.records = sample.Take();
    return absl::OkStatus();
  }

  // A record that is no row of the table is not counted.
  void AddRecord(const std::string& file, const RecordReader& reader, EvenSample* sample) {
    absl::Status status = reader.status();
    if (status.ok()) {
      const auto selects = [&](const DesignRow& row) {
        return row.input == found_.input && Selects(row, reader.fields());
      };
      const std::vector<DesignRow>& rows = queries_[0].table().rows;
      if (std::none_of(rows.begin(), rows.end(), selects)) return;
      auto record = UsableRecord(reader.fields());
      if (record.ok()) return sample->Add(*std::move(record));
      status = record.status();
    }
    if (++found_.unusable_records == 1)
      found_.first_error =
          fmt::format("{}:{}: {}", file, reader.line_number(), ToStd(status.message()));
  }

  absl::StatusOr<Design::Record> UsableRecord(const FieldSource& source) const {
    Design::Record record;
    for (const std::string& field : fields_)
      if (const auto text = source.Text(field)) record.emplace(field, *text);
    for (const QueryInputs& query : queries_)
      STELE_RETURN_IF_ERROR(query.Check(source, MapFields(record)));
    return record;
  }

  const std::vector<QueryInputs> queries_;
  std::set<std::string, std::less<>> fields_;
  const QueryRecordsOptions& options_;
  QueryRecords found_;
};

}  // namespace

absl::StatusOr<QueryRecords> ReadQueryRecords(const Design& design, std::string_view table,
                                              std::string_view query,
                                              const QueryRecordsOptions& options) {
  std::vector<QueryInputs> queries;
  STELE_ASSIGN_OR_RETURN(QueryInputs first, QueryInputs::Find(design, table, query));
  STELE_RETURN_IF_ERROR(CheckGiven(first.model(), options.inputs));
  queries.push_back(std::move(first));
  for (const auto& [other, other_table] : options.others) {
    STELE_ASSIGN_OR_RETURN(QueryInputs same_query, QueryInputs::Find(other, other_table, query));
    queries.push_back(std::move(same_query));
  }
  return QueryRecordsReader(std::move(queries), options).Read();
}

}  // namespace stele::internal::lab
