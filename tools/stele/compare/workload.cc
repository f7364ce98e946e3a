#include "compare/workload.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "bench/random.h"
#include "key_bytes.h"
#include "lab/load/query_inputs.h"
#include "lab/records/record_input.h"
#include "session.h"
#include "stele/lab/load.h"

namespace stele::cli {
namespace {

using internal::lab::QueryInputs;

constexpr size_t kNameBytesMax = 200;

bool HasQueries(const lab::Design& design, const std::string& table,
                const std::vector<std::string>& names) {
  const std::vector<std::string> queries = design.queries(table);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(queries.begin(), queries.end(), name) != queries.end();
  });
}

// Returns the queries of `table` that `design` lacks in all its tables, for a message.
std::string MissingIn(const lab::Design& design, const std::string& table,
                      const std::vector<std::string>& names) {
  std::vector<std::string> tables = {table};
  if (table.empty()) tables = design.tables();
  std::string missing;
  for (const std::string& name : names) {
    const bool is_found = std::any_of(tables.begin(), tables.end(), [&](const auto& each) {
      return HasQueries(design, each, {name});
    });
    if (!is_found) missing += (missing.empty() ? "" : ", ") + EscapedKey(name);
  }
  return missing;
}

// Returns the first design's table, or the table of another design that has its queries.
absl::StatusOr<std::string> TableOf(const lab::Design& design, const std::string& wanted,
                                    const std::vector<std::string>& queries) {
  std::vector<std::string> found;
  for (const std::string& table : design.tables()) {
    const bool fits =
        queries.empty() ? !design.queries(table).empty() : HasQueries(design, table, queries);
    if (fits && (wanted.empty() || wanted == table)) found.push_back(table);
  }
  if (found.size() == 1) return found[0];
  const std::string file = EscapedKey(design.name());
  const std::vector<std::string> tables = design.tables();
  if (!wanted.empty() && std::find(tables.begin(), tables.end(), wanted) == tables.end()) {
    std::string names;
    for (const std::string& table : tables)
      names += (names.empty() ? "" : ", ") + EscapedKey(table);
    return internal::NotFound("{} has no table {}; its tables: {}", file, EscapedKey(wanted),
                              names);
  }
  if (found.size() > 1)
    return UsageError(
        fmt::format("{}: {} tables have the queries: choose one with --table", file, found.size()));
  if (queries.empty()) {
    return internal::NotFound("{}: {} has no queries, so there is nothing to compare", file,
                              wanted.empty() ? "it" : "the table " + EscapedKey(wanted));
  }
  const std::string missing = MissingIn(design, wanted, queries);
  return internal::NotFound(
      "{}: {}", file,
      missing.empty() ? "no table has all queries of the first design"
                      : fmt::format("these queries of the first design are missing: {}", missing));
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
                                            designs[i].name, EscapedKey(query)));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<DesignTableChoice>> LoadDesigns(const CompareOptions& options) {
  std::vector<DesignTableChoice> designs;
  std::vector<std::string> queries;  // of the first design's table
  for (const std::string& path : options.design_paths) {
    const std::string stem = internal::lab::DesignName(path);
    if (stem.starts_with('.') || stem.size() > kNameBytesMax)
      return UsageError(fmt::format(
          "the design file {} names a database: its name must not begin with a point, and have at "
          "most {} bytes",
          EscapedKey(path), kNameBytesMax));
    STELE_ASSIGN_OR_RETURN(lab::Design design, lab::Design::Load(path));
    STELE_ASSIGN_OR_RETURN(std::string table, TableOf(design, options.table, queries));
    if (designs.empty()) queries = design.queries(table);
    for (const DesignTableChoice& other : designs) {
      if (other.name == internal::lab::DesignName(path))
        return UsageError(fmt::format("two designs are named {}: rename a file", other.name));
    }
    designs.push_back({std::move(design), internal::lab::DesignName(path), std::move(table)});
  }
  return designs;
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
        STELE_ASSIGN_OR_RETURN(const auto files, internal::lab::RecordInput::FindOf(
                                                     query.model(), input, options.inputs));
        bytes += 2 * files.stored_bytes();
      }
    }
    sum += std::max(bytes, kDatabaseBytesMin);
  }
  return sum;
}

absl::StatusOr<LogicalWorkload> MakeWorkload(const std::vector<DesignTableChoice>& designs,
                                             const CompareOptions& options,
                                             const CompareProgress& progress) {
  LogicalWorkload workload;
  std::vector<int64_t> weights;
  const DesignTableChoice& first = designs[0];
  lab::QueryRecordsOptions reading{.inputs = options.inputs,
                                   .output_paths = {options.output_path},
                                   .input_records_max = options.records_max};
  for (size_t i = 1; i < designs.size(); ++i)
    reading.others.emplace_back(designs[i].design, designs[i].table);
  reading.progress = progress;
  for (const std::string& name : first.design.queries(first.table)) {
    LogicalQuery query{.name = name};
    STELE_ASSIGN_OR_RETURN(query.input, WrittenInputOf(designs, name));
    STELE_ASSIGN_OR_RETURN(const QueryInputs inputs,
                           QueryInputs::Find(first.design, first.table, name));
    STELE_ASSIGN_OR_RETURN(lab::QueryRecords found,
                           lab::ReadQueryRecords(first.design, first.table, name, reading));
    query.records = std::move(found.records);
    query.unusable = found.unusable;
    query.first_unusable = std::move(found.first_error);
    weights.push_back(inputs.query().weight);
    workload.queries.push_back(std::move(query));
  }
  AddNotes(designs, &workload);
  OperationDraw draw(options, workload.queries, std::move(weights));
  for (uint64_t i = 0; i < options.operations; ++i) workload.operations.push_back(draw.Next());
  return workload;
}

}  // namespace stele::cli
