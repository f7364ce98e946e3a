// tools/stele/replay/report_page.h: the report of `stele replay` as a page.
//
// Threads:   Pure functions.
#pragma once

#include <string>

#include "replay/report.h"
#include "replay/runner.h"

namespace stele::cli {

// Returns HTML that needs no other file and no network: the table, and a plot of the latency of
// each kind of operation.
std::string ReplayPage(const ReplayReport& report, const ReplayResult& result, bool is_open_loop);

}  // namespace stele::cli
