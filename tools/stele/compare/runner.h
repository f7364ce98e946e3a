// tools/stele/compare/runner.h: runs the same operations on several designs, and measures them.
//
// Counting:  all operations run once, on one thread. The figures are exact, and the same in every
//            comparison with the same seed.
// Rounds:    then all operations are timed; see rounds.h.
// Threads:   Compare starts and joins its own threads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compare/compared_design.h"
#include "compare/estimate.h"
#include "compare/options.h"
#include "compare/rounds.h"
#include "compare/workload.h"
#include "stele/lab/heat_map.h"
#include "stele/lab/lint.h"

namespace stele::cli {

struct QueryResult {
  uint64_t operations = 0;
  OperationResult totals;        // of all operations
  uint64_t cold_bytes_read = 0;  // from files, by all operations after a start with a cold cache
  bool declares_answer = false;
};

struct DesignResult {
  std::string name;
  std::string table;
  TableFigures table_figures;
  std::vector<QueryResult> queries;     // those of the workload
  std::optional<TimedFigures> warm;     // unless --cache cold
  std::optional<TimedFigures> cold;     // with --cache cold or both
  std::vector<lab::HeatMap> maps;       // one map, of the counting run
  std::vector<lab::HeatMap> page_maps;  // the same with fewer ranges, if there is a page
  // The requests that touched the busiest of up to 1,000 ranges of rows; at most 1.
  double busiest_range_share = 0;
  std::map<std::string, lab::LintSeverity> findings;  // by the id of the rule
  std::optional<Estimate> estimate;                   // with --estimate
};

struct AnswerDifference {
  size_t query = 0;
  lab::Design::Record record;
  std::vector<uint64_t> values;  // how many values the answer of each design has
};

struct CompareResult {
  std::vector<DesignResult> designs;
  uint64_t answers_compared = 0;  // operations whose answers all designs declare
  uint64_t answers_equal = 0;
  uint64_t answers_empty = 0;                 // equal, because no design found a value
  std::vector<uint64_t> different_answers;    // by query
  std::vector<AnswerDifference> differences;  // the first 3
  double estimate_rate = 0;                   // operations per second of the estimates
};

// Errors: the first error of an operation, with the design and the query; those of RunRounds, the
// advisor and the heat map.
absl::StatusOr<CompareResult> Compare(const std::vector<std::unique_ptr<ComparedDesign>>& designs,
                                      const LogicalWorkload& workload,
                                      const CompareOptions& options, const std::string& directory,
                                      const CompareProgress& progress);

}  // namespace stele::cli
