// compare/run_comparison.h: runs the same operations on several designs, and measures them.
//
// Counting:  all operations run once, on one thread. The figures are exact, and the same in every
//            comparison with the same seed.
// Rounds:    then all operations are timed; see rounds.h.
// Threads:   RunComparison starts and joins its own threads.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "lab/compare/compared_design.h"
#include "lab/workload/logical_workload.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

using ComparedDesigns = std::vector<std::unique_ptr<ComparedDesign>>;

// Adds to the report: the figures of the designs, the comparison of their answers, and the
// estimates.
// Errors: the first error of an operation, with the design and the query; those of RunRounds, the
// advisor and the heat map; Cancelled after a stop.
absl::Status RunComparison(const ComparedDesigns& designs, const LogicalWorkload& workload,
                           const stele::lab::CompareOptions& options,
                           stele::lab::CompareReport* report);

}  // namespace stele::internal::lab
