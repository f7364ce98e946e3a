// load/query_records.cc: reads the records from which a query takes its parameters.
#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "io/output_path.h"
#include "lab/design/parse_design.h"
#include "lab/design/query_request.h"
#include "lab/design/row_mapping.h"
#include "lab/records/record_input.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::QueryRecords;
using stele::lab::QueryRecordsOptions;
using stele::lab::ReadRequest;

constexpr size_t kSampleBytesMax = size_t{64} << 20;
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
    while (records_.size() > 1 && (records_.size() > records_max_ || bytes_ > kSampleBytesMax))
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

bool IsSame(const std::vector<ReadRequest>& a, const std::vector<ReadRequest>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ReadRequest& one, const ReadRequest& other) {
                      return one.rows == other.rows && one.filter == other.filter;
                    });
}

// Reads the records of a query that reads.
class QueryRecordsReader {
 public:
  QueryRecordsReader(const Design& design, const DesignModel& model, const DesignTable& table,
                     const DesignQuery& query, const QueryRecordsOptions& options)
      : design_(design),
        model_(model),
        table_(table),
        query_(query),
        fields_(FieldsOf(*query.read)),
        options_(options) {
    fields_.erase(std::string(kBucketField));
  }

  absl::StatusOr<QueryRecords> Read() {
    STELE_RETURN_IF_ERROR(CheckOutputs());
    if (fields_.empty()) return QueryRecords{.usable = 1, .records = {{}}};
    absl::Status first;
    for (const DesignInput& input : model_.inputs) {
      const auto feeds = [&](const DesignRow& row) { return row.input == input.name; };
      if (std::none_of(table_.rows.begin(), table_.rows.end(), feeds)) continue;
      const auto files = RecordInput::FindOf(model_, input, options_.inputs);
      if (!files.ok()) {
        if (first.ok()) first = files.status();
        continue;
      }
      STELE_RETURN_IF_ERROR(ReadInput(input.name, *files));
      if (found_.usable > 0) return std::move(found_);
      if (first.ok()) first = NothingUsable(input.name);
    }
    if (!first.ok()) return first;
    return InvalidArgument("query \"{}\": no input of the design fills the table {}",
                           Printable(query_.name), Printable(table_.name));
  }

 private:
  absl::Status CheckOutputs() const {
    std::vector<std::string> files = {model_.file};
    for (const DesignInput& input : model_.inputs) {
      const auto found = RecordInput::FindOf(model_, input, options_.inputs);
      if (found.ok()) files.push_back(found->path());
    }
    return CheckReplacesNoInput(options_.output_paths, files);
  }

  absl::Status NothingUsable(const std::string& input) const {
    if (found_.unusable == 0)
      return InvalidArgument("query \"{}\": the input \"{}\" has no record of the table {}",
                             Printable(query_.name), input, Printable(table_.name));
    return InvalidArgument("query \"{}\": no record of the input \"{}\" has its fields: {}",
                           Printable(query_.name), input, found_.first_error);
  }

  absl::Status ReadInput(const std::string& name, const RecordInput& input) {
    found_ = {.input = name};
    EvenSample sample(options_.records_max);
    uint64_t done = 0;
    uint64_t count = 0;
    for (size_t file = 0; file < input.file_count(); ++file) {
      STELE_ASSIGN_OR_RETURN(const auto reader, input.Open(file));
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
        if (!any) break;
        if (++count % kProgressPeriod == 0 && options_.progress)
          options_.progress("reading", done + reader->stored_bytes(), input.stored_bytes());
        TakeRecord(input.file_name(file), *reader, &sample);
      }
      done += reader->stored_bytes();
    }
    found_.usable = sample.count();
    found_.records = sample.Take();
    return absl::OkStatus();
  }

  // A record that is no row of the table is not counted.
  void TakeRecord(const std::string& file, const RecordReader& reader, EvenSample* sample) {
    absl::Status status = reader.status();
    if (status.ok()) {
      const auto selects = [&](const DesignRow& row) {
        return row.input == found_.input && Selects(row, reader.fields());
      };
      if (std::none_of(table_.rows.begin(), table_.rows.end(), selects)) return;
      auto record = UsableRecord(reader.fields());
      if (record.ok()) return sample->Add(*std::move(record));
      status = record.status();
    }
    if (++found_.unusable == 1)
      found_.first_error =
          fmt::format("{}:{}: {}", file, reader.line_number(), ToStd(status.message()));
  }

  absl::StatusOr<Design::Record> UsableRecord(const FieldSource& source) const {
    STELE_ASSIGN_OR_RETURN(const auto expected, RequestsOf(table_, query_, source));
    Design::Record record;
    for (const std::string& field : fields_) {
      if (const auto text = source.Text(field)) record.emplace(field, *text);
    }
    STELE_ASSIGN_OR_RETURN(const auto requests, design_.Read(table_.name, query_.name, record));
    if (IsSame(expected, requests)) return record;
    return InvalidArgument("a field with json is not a text");
  }

  const Design& design_;
  const DesignModel& model_;
  const DesignTable& table_;
  const DesignQuery& query_;
  std::set<std::string, std::less<>> fields_;
  const QueryRecordsOptions& options_;
  QueryRecords found_;
};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<QueryRecords> ReadQueryRecords(const Design& design, std::string_view table,
                                              std::string_view query,
                                              const QueryRecordsOptions& options) {
  using internal::lab::DesignQuery;
  using internal::lab::DesignTable;
  STELE_ASSIGN_OR_RETURN(const std::string written, design.WrittenInput(table, query));
  if (!written.empty())
    return internal::InvalidArgument("query \"{}\" writes, so it has no parameters",
                                     internal::Printable(query));
  STELE_ASSIGN_OR_RETURN(const auto model,
                         internal::lab::ParseDesign(design.ToJson(), design.name()));
  STELE_RETURN_IF_ERROR(internal::lab::CheckGiven(model, options.inputs));
  // Both exist: the design that was parsed again is the same.
  const auto found = std::find_if(model.tables.begin(), model.tables.end(),
                                  [&](const DesignTable& each) { return each.name == table; });
  const auto of = std::find_if(found->queries.begin(), found->queries.end(),
                               [&](const DesignQuery& each) { return each.name == query; });
  return internal::lab::QueryRecordsReader(design, model, *found, *of, options).Read();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
