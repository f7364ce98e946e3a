// compare/rounds.h: runs the operations of a comparison in rounds, and times them.
//
// Rounds:    all operations run options.rounds times on each design. Each round begins with another
//            design, in turn.
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
#include "lab/compare/compared_design.h"
#include "lab/workload/logical_workload.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// Returns the figures of each design. With CacheState::kCold each round begins with a cold cache.
// Errors: the first error of an operation, with the design and the query; those of opening a
// database; ResourceExhausted if a thread could not be started; Cancelled after a stop.
absl::StatusOr<std::vector<stele::lab::CompareReport::TimedFigures>> RunRounds(
    const std::vector<std::unique_ptr<ComparedDesign>>& designs, const LogicalWorkload& workload,
    const stele::lab::CompareOptions& options, CacheState cache);

// Returns the error of an operation with its design and query.
absl::Status FailedOperation(const ComparedDesign& design, const LogicalQuery& query,
                             const absl::Status& status);

}  // namespace stele::internal::lab
