// tools/stele/compare/runner.h: runs the same operations on several designs, and measures them.
//
// Counts:    the first run of all operations, on one thread. Its figures are exact, and the same in
//            every comparison with the same seed.
// Rounds:    each runs all operations on each design, and begins with another design. Their
//            latencies are those of a closed loop: the time of a call.
// Threads:   Compare starts and joins its own threads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/histogram.h"
#include "compare/compared_design.h"
#include "compare/options.h"
#include "compare/workload.h"
#include "stele/lab/heat_map.h"
#include "stele/lab/lint.h"

namespace stele::cli {

// Latencies in nanoseconds.
struct LatencyFigures {
  uint64_t p50 = 0;
  uint64_t p99 = 0;
  uint64_t max = 0;
};

struct QueryResult {
  uint64_t operations = 0;
  OperationResult sum;      // of all operations
  LatencyFigures latency;   // medians of the rounds
  bool has_answer = false;  // is the answer declared?
};

struct DesignResult {
  std::string name;
  std::string table;
  TableFigures table_figures;
  std::vector<QueryResult> queries;                   // those of the workload
  double operations_per_second = 0;                   // median of the rounds
  double cpu_seconds = 0;                             // of the process, median of the rounds
  std::vector<lab::HeatMap> maps;                     // one map, of the first run
  double hottest_band_share = 0;                      // of the operations, of up to 1,000 bands
  std::map<std::string, lab::LintSeverity> findings;  // by the id of the rule
};

struct AnswerDifference {
  size_t query = 0;
  lab::Design::Record record;
};

struct CompareResult {
  std::vector<DesignResult> designs;
  uint64_t answers_compared = 0;  // operations whose answers all designs declare
  uint64_t answers_equal = 0;
  std::vector<AnswerDifference> differences;  // the first 3
};

// Errors: the first error of an operation, with the design and the query; those of the advisor and
// the heat map; ResourceExhausted if a thread could not be started.
absl::StatusOr<CompareResult> Compare(const std::vector<std::unique_ptr<ComparedDesign>>& designs,
                                      const CompareWorkload& workload,
                                      const CompareOptions& options, const std::string& directory,
                                      const CompareProgress& progress);

}  // namespace stele::cli
