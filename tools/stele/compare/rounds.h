// tools/stele/compare/rounds.h: runs the operations of a comparison in rounds, and times them.
//
// Rounds:    all operations run options.rounds times on each design. Each round begins with the
//            next design.
// Latency:   in a closed loop the time of a call. In an open loop it counts from the time at which
//            an operation is due, so a stall counts in every operation that waited.
// Threads:   RunRounds starts and joins its own threads. Operations with the same record run on
//            one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compare/compared_design.h"
#include "compare/figure_table.h"
#include "compare/options.h"
#include "compare/workload.h"
#include "stele/lab/histogram.h"

namespace stele::cli {

// Latencies in nanoseconds.
struct LatencyFigures {
  Measured p50;
  Measured p99;
  lab::LatencyHistogram all_rounds;
};

struct TimedFigures {
  std::vector<LatencyFigures> queries;  // those of the workload
  Measured operations_per_second;
  Measured cpu_seconds;  // of the process
  // Operations of a round that began more than 1 ms after they were due; 0 in a closed loop.
  Measured late;
};

// Returns the figures of each design. With CacheState::kCold each round begins with a cold cache.
// Errors: the first error of an operation, with the design and the query; those of opening a
// database; ResourceExhausted if a thread could not be started.
absl::StatusOr<std::vector<TimedFigures>> RunRounds(
    const std::vector<std::unique_ptr<ComparedDesign>>& designs, const LogicalWorkload& workload,
    const CompareOptions& options, CacheState cache, const CompareProgress& progress);

// Returns the error of an operation with its design and query.
absl::Status FailedOperation(const ComparedDesign& design, const LogicalQuery& query,
                             const absl::Status& status);

}  // namespace stele::cli
