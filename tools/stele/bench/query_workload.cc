#include "bench/query_workload.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "bench/calls.h"
#include "bench/report.h"
#include "key_bytes.h"
#include "lab/load/query_records.h"
#include "lab_files.h"
#include "progress.h"
#include "row_text.h"
#include "session.h"
#include "stele/lab/design.h"

namespace stele::cli {
namespace {

using lab::ReadRequest;

std::string RangeText(const RowRange& range) {
  if (range.is_prefix()) return "prefix " + Quoted(range.start());
  if (range == RowRange::All()) return "all rows";
  return fmt::format(
      "from {} to {}",
      range.start_bound() == RangeBound::kUnbounded ? "the first" : Quoted(range.start()),
      range.end_bound() == RangeBound::kUnbounded ? "the last" : Quoted(range.end()));
}

std::string RequestText(const ReadRequest& request) {
  std::string text;
  if (!request.rows.row_keys().empty())
    text += request.rows.row_keys().size() == 1 ? " row" : " rows";
  for (const std::string& key : request.rows.row_keys()) text += " " + Quoted(key);
  for (const RowRange& range : request.rows.ranges()) text += " " + RangeText(range);
  if (request.reverse) text += " reverse";
  if (request.limit > 0) text += fmt::format(" limit {}", request.limit);
  if (!(request.filter == Filter::PassAll())) text += " filter " + request.filter.ToString();
  return text;
}

class DesignQueryRead : public QueryRead {
 public:
  DesignQueryRead(std::string_view name, std::vector<ReadRequest> requests)
      : name_(name), requests_(std::move(requests)) {}

  absl::Status Run(const Table& table, const ReadOptions& options,
                   BenchCounts* counts) const override {
    const RowSet& rows = requests_[0].rows;
    if (requests_.size() == 1 && rows.ranges().empty() && rows.row_keys().size() == 1)
      return ReadOne(table, options, counts);
    const auto count = [counts](const RowView& row) {
      if (row.is_last_piece()) ++counts->rows;
      Count(row.cells(), counts);
    };
    STELE_ASSIGN_OR_RETURN(const ReadStats stats, lab::ReadAll(table, requests_, options, count));
    counts->bytes_read += stats.bytes_read;
    return absl::OkStatus();
  }

  std::string ToText() const override {
    std::string text = EscapedKey(name_);
    for (size_t i = 0; i < requests_.size(); ++i)
      text += (i == 0 ? "" : " +") + RequestText(requests_[i]);
    return text;
  }

 private:
  // An application reads one row with ReadRow.
  absl::Status ReadOne(const Table& table, const ReadOptions& options, BenchCounts* counts) const {
    STELE_ASSIGN_OR_RETURN(const auto row, table.ReadRow(requests_[0].rows.row_keys()[0],
                                                         requests_[0].filter, options));
    if (!row.has_value()) return absl::OkStatus();
    ++counts->rows;
    Count(row->cells(), counts);
    return absl::OkStatus();
  }

  const std::string_view name_;
  const std::vector<ReadRequest> requests_;
};

class DesignQueryWorkload : public QueryWorkload {
 public:
  DesignQueryWorkload(const lab::Design& design, std::string table, const std::string& name,
                      std::vector<lab::Design::Record> records)
      : QueryWorkload(name),
        design_(design),
        table_(std::move(table)),
        records_(std::move(records)) {}

  uint64_t record_count() const override { return records_.size(); }
  absl::StatusOr<std::unique_ptr<QueryRead>> Prepare(uint64_t record) const override {
    STELE_ASSIGN_OR_RETURN(std::vector<ReadRequest> requests,
                           design_.Read(table_, workload().name, records_[record]));
    return std::make_unique<DesignQueryRead>(workload().name, std::move(requests));
  }

 private:
  const lab::Design design_;
  const std::string table_;
  const std::vector<lab::Design::Record> records_;
};

// Returns the table of --table, or the only one that has all queries.
absl::StatusOr<std::string> TableOf(const lab::Design& design, const BenchOptions& options) {
  if (!options.query_table.empty()) return options.query_table;
  std::vector<std::string> found;
  for (const std::string& table : design.tables()) {
    const std::vector<std::string> queries = design.queries(table);
    if (std::all_of(options.queries.begin(), options.queries.end(), [&](const std::string& name) {
          return std::find(queries.begin(), queries.end(), name) != queries.end();
        }))
      found.push_back(table);
  }
  if (found.size() == 1) return found[0];
  std::string names;
  for (const std::string& name : options.queries)
    names += (names.empty() ? "" : ", ") + EscapedKey(name);
  if (found.empty()) {
    return internal::NotFound(
        "{}: no table has {} {}; \"stele design show\" lists them", EscapedKey(design.name()),
        options.queries.size() == 1 ? "the query" : "all of the queries", names);
  }
  return UsageError(fmt::format("bench: {} tables of the design have {}: choose one with --table",
                                found.size(), names));
}

std::string RecordsText(const std::string& name, const internal::lab::QueryRecords& records) {
  if (records.input.empty()) return fmt::format("; {}: no parameters", EscapedKey(name));
  std::string text = fmt::format("; {}: {} records of {}", EscapedKey(name), records.records.size(),
                                 records.input);
  if (records.usable_records > records.records.size())
    text += fmt::format(", sampled from {}", records.usable_records);
  if (records.unusable_records > 0)
    text += fmt::format(", {} without its parameters", records.unusable_records);
  return text;
}

}  // namespace

absl::StatusOr<QueryWorkloads> LoadQueries(const BenchOptions& options, const std::string& output) {
  STELE_ASSIGN_OR_RETURN(const lab::Design design, lab::Design::Load(options.design_path));
  STELE_ASSIGN_OR_RETURN(const std::string table, TableOf(design, options));
  QueryWorkloads loaded{.table = table,
                        .queries = {},
                        .text = fmt::format("design {}", EscapedKey(options.design_path))};
  // Wrong names are found before the inputs are read.
  for (const std::string& name : options.queries) {
    STELE_ASSIGN_OR_RETURN(const std::string written, design.WrittenInput(table, name));
    if (written.empty()) continue;
    return internal::FailedPrecondition(
        "the query {} writes, and bench never changes a table of a design: measure writes with "
        "the workloads put, update and bulk",
        EscapedKey(name));
  }
  PhaseProgress progress;
  internal::lab::QueryRecordsOptions reading{.inputs = options.inputs,
                                             .output_paths = OutputPaths(options, output)};
  reading.progress = [&progress](std::string_view phase, uint64_t done, uint64_t total) {
    progress.Set(phase, done, total);
  };
  for (const std::string& name : options.queries) {
    STELE_ASSIGN_OR_RETURN(internal::lab::QueryRecords records,
                           internal::lab::ReadQueryRecords(design, table, name, reading));
    loaded.text += RecordsText(name, records);
    loaded.queries.push_back(
        std::make_unique<DesignQueryWorkload>(design, table, name, std::move(records.records)));
  }
  return loaded;
}

}  // namespace stele::cli
