// tools/stele/compare/report_json.h: the figures of `stele compare-designs` as JSON.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <string>

#include "compare/options.h"
#include "compare/runner.h"
#include "compare/workload.h"

namespace stele::cli {

// One JSON object with all figures.
std::string CompareJson(const CompareOptions& options, const LogicalWorkload& workload,
                        const CompareResult& result);

}  // namespace stele::cli
