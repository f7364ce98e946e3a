// tools/stele/compare/report.h: the output of `stele compare-designs`.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <string>

#include "compare/options.h"
#include "compare/runner.h"
#include "compare/workload.h"

namespace stele::cli {

// A table with a column per design and a line per figure (figure_table.h), findings, and a summary.
std::string CompareText(const CompareOptions& options, const CompareWorkload& workload,
                        const CompareResult& result);
// One JSON object with all figures.
std::string CompareJson(const CompareOptions& options, const CompareWorkload& workload,
                        const CompareResult& result);

}  // namespace stele::cli
