#include "lab/compare/workload.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "keys/printable.h"
#include "lab/load/query_inputs.h"
#include "lab/load/query_records.h"
#include "lab/records/record_input.h"
#include "lab/workload/random.h"
#include "lab/workload/row_chooser.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareOptions;

bool HasQueries(const stele::lab::Design& design, const std::string& table,
                const std::vector<std::string>& names) {
  const std::vector<std::string> queries = design.queries(table);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(queries.begin(), queries.end(), name) != queries.end();
  });
}

// Returns the queries of `table` that `design` lacks in all its tables, for a message.
std::string MissingIn(const stele::lab::Design& design, const std::string& table,
                      const std::vector<std::string>& names) {
  std::vector<std::string> tables = {table};
  if (table.empty()) tables = design.tables();
  std::string missing;
  for (const std::string& name : names) {
    const bool is_found = std::any_of(tables.begin(), tables.end(), [&](const auto& each) {
      return HasQueries(design, each, {name});
    });
    if (!is_found) missing += (missing.empty() ? "" : ", ") + EscapedBytes(name);
  }
  return missing;
}

// Draws queries by their weights, and records by the distribution.
class OperationDraw {
 public:
  OperationDraw(const CompareOptions& options, const std::vector<LogicalQuery>& queries,
                std::vector<int64_t> weights)
      : random_(options.seed), weights_(std::move(weights)) {
    for (const int64_t weight : weights_) sum_ += static_cast<uint64_t>(weight);
    for (const LogicalQuery& query : queries)
      choosers_.emplace_back(options.distribution, query.records.size(), 0);
    for (const LogicalQuery& query : queries) sizes_.push_back(query.records.size());
  }

  LogicalOperation Next() {
    uint64_t at = random_.Below(sum_);
    uint32_t query = 0;
    while (at >= static_cast<uint64_t>(weights_[query]))
      at -= static_cast<uint64_t>(weights_[query++]);
    return {.query = query,
            .record = static_cast<uint32_t>(choosers_[query].Next(&random_, sizes_[query]))};
  }

 private:
  BenchRandom random_;
  const std::vector<int64_t> weights_;
  uint64_t sum_ = 0;
  std::vector<RowChooser> choosers_;
  std::vector<uint64_t> sizes_;
};

// The first design decides which queries run.
void AddNotes(const std::vector<DesignTableChoice>& designs, LogicalWorkload* workload) {
  for (size_t i = 1; i < designs.size(); ++i) {
    for (const std::string& query : designs[i].design.queries(designs[i].table)) {
      if (HasQueries(designs[0].design, designs[0].table, {query})) continue;
      workload->notes.push_back(fmt::format("{} has also the query {}, which is not compared",
                                            designs[i].name, EscapedBytes(query)));
    }
  }
}

}  // namespace

bool IsDirectoryName(std::string_view name) {
  return !name.starts_with('.') && name.size() <= kDesignNameBytesMax;
}

absl::StatusOr<std::vector<std::string>> TablesWith(const stele::lab::Design& design,
                                                    const std::string& wanted,
                                                    const std::vector<std::string>& queries) {
  std::vector<std::string> found;
  for (const std::string& table : design.tables()) {
    const bool fits =
        queries.empty() ? !design.queries(table).empty() : HasQueries(design, table, queries);
    if (fits && (wanted.empty() || wanted == table)) found.push_back(table);
  }
  if (!found.empty()) return found;
  const std::string file = EscapedBytes(design.name());
  const std::vector<std::string> tables = design.tables();
  if (!wanted.empty() && std::find(tables.begin(), tables.end(), wanted) == tables.end()) {
    std::string names;
    for (const std::string& table : tables)
      names += (names.empty() ? "" : ", ") + EscapedBytes(table);
    return NotFound("{} has no table {}; its tables: {}", file, EscapedBytes(wanted), names);
  }
  if (queries.empty()) {
    return NotFound("{}: {} has no queries, so there is nothing to compare", file,
                    wanted.empty() ? "it" : "the table " + EscapedBytes(wanted));
  }
  const std::string missing = MissingIn(design, wanted, queries);
  return NotFound("{}: {}", file,
                  missing.empty()
                      ? "no table has all queries of the first design"
                      : fmt::format("these queries of the first design are missing: {}", missing));
}

absl::Status CheckDesignNames(const std::vector<stele::lab::Design>& designs) {
  std::set<std::string> names;
  for (const stele::lab::Design& design : designs) {
    const std::string name = DesignName(design.name());
    if (name.empty() || !IsDirectoryName(name))
      return InvalidArgument(
          "the design \"{}\" names a database: its name must not begin with a point, and have 1 to "
          "{} bytes",
          Printable(design.name()), kDesignNameBytesMax);
    if (!names.insert(name).second) return InvalidArgument("two designs are named {}", name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DesignTableChoice>> ChooseTables(
    const std::vector<stele::lab::Design>& designs, const std::string& wanted,
    std::string_view option) {
  std::vector<DesignTableChoice> choices;
  std::vector<std::string> queries;  // of the first design's table
  for (const stele::lab::Design& design : designs) {
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> tables,
                           TablesWith(design, wanted, queries));
    if (tables.size() > 1)
      return InvalidArgument("{}: {} tables have the queries: choose one with {}",
                             EscapedBytes(design.name()), tables.size(), option);
    if (choices.empty()) queries = design.queries(tables[0]);
    choices.push_back({design, DesignName(design.name()), tables[0]});
  }
  return choices;
}

absl::Status CheckDrawing(std::string_view options, uint64_t operations,
                          const stele::lab::RecordDistribution& distribution) {
  constexpr uint64_t kDrawnOperationsMax = 10'000'000;
  if (operations == 0 || operations > kDrawnOperationsMax)
    return InvalidArgument("{}::operations is {}, and must be from 1 to {}", options, operations,
                           kDrawnOperationsMax);
  const auto is_share = [](double number) { return number > 0 && number <= 1; };
  if (!(distribution.theta > 0 && distribution.theta < 1))
    return InvalidArgument("RecordDistribution::theta is {:g}, and must be between 0 and 1",
                           distribution.theta);
  if (!is_share(distribution.hot_rows) || !is_share(distribution.hot_operations))
    return InvalidArgument(
        "RecordDistribution::hot_rows and hot_operations are {:g} and {:g}, and must be above 0 "
        "and at most 1",
        distribution.hot_rows, distribution.hot_operations);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> DatabaseBytes(const std::vector<DesignTableChoice>& designs,
                                       const CompareOptions& options) {
  constexpr uint64_t kDatabaseBytesMin = 20'000'000;
  uint64_t sum = 0;
  for (const DesignTableChoice& choice : designs) {
    uint64_t bytes = 0;
    const std::vector<std::string> queries = choice.design.queries(choice.table);
    if (options.records_max == 0 && !queries.empty()) {
      STELE_ASSIGN_OR_RETURN(const QueryInputs query,
                             QueryInputs::Find(choice.design, choice.table, queries[0]));
      std::set<std::string> inputs;
      for (const auto& row : query.table().rows) inputs.insert(row.input);
      for (const auto& input : query.model().inputs) {
        if (!inputs.contains(input.name)) continue;
        STELE_ASSIGN_OR_RETURN(const auto files,
                               RecordInput::FindOf(query.model(), input, options.inputs));
        bytes += 2 * files.stored_bytes();
      }
    }
    sum += std::max(bytes, kDatabaseBytesMin);
  }
  return sum;
}

absl::StatusOr<LogicalWorkload> MakeWorkload(const std::vector<DesignTableChoice>& designs,
                                             const CompareOptions& options) {
  LogicalWorkload workload;
  std::vector<int64_t> weights;
  const DesignTableChoice& first = designs[0];
  QueryRecordsOptions reading{.inputs = options.inputs,
                              .output_paths = options.output_paths,
                              .input_records_max = options.records_max};
  for (size_t i = 1; i < designs.size(); ++i)
    reading.others.emplace_back(designs[i].design, designs[i].table);
  reading.progress = options.progress;
  reading.stop = options.stop;
  for (const std::string& name : first.design.queries(first.table)) {
    LogicalQuery query{.name = name};
    STELE_ASSIGN_OR_RETURN(query.input, WrittenInputOf(designs, name));
    STELE_ASSIGN_OR_RETURN(const QueryInputs inputs,
                           QueryInputs::Find(first.design, first.table, name));
    STELE_ASSIGN_OR_RETURN(QueryRecords found,
                           ReadQueryRecords(first.design, first.table, name, reading));
    query.records = std::move(found.records);
    query.unusable_records = found.unusable_records;
    query.first_unusable_record = std::move(found.first_error);
    weights.push_back(inputs.query().weight);
    workload.queries.push_back(std::move(query));
  }
  AddNotes(designs, &workload);
  OperationDraw draw(options, workload.queries, std::move(weights));
  for (uint64_t i = 0; i < options.operations; ++i) {
    if (options.stop.stop_requested()) return Cancelled("the draw of the operations was stopped");
    workload.operations.push_back(draw.Next());
  }
  return workload;
}

}  // namespace stele::internal::lab
