// tools/stele/compare/report_page.h: the report of `stele compare-designs` as a page.
//
// Threads:   Pure functions.
#pragma once

#include <string>

#include "compare/report.h"
#include "compare/runner.h"
#include "compare/workload.h"

namespace stele::cli {

// Returns HTML that needs no other file and no network: the table, a plot of the latency of each
// query, and the heat maps of all designs on one scale.
std::string ComparePage(const CompareReport& report, const LogicalWorkload& workload,
                        const CompareResult& result);

}  // namespace stele::cli
