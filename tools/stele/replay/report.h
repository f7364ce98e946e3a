// tools/stele/replay/report.h: the output of `stele replay`.
//
// Units:     latencies in microseconds with one decimal digit, MB of 1,000,000 value bytes.
#pragma once

#include <string>

#include "replay/options.h"
#include "replay/runner.h"

namespace stele::cli {

std::string ReplayText(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location);
// A line with the settings, one line per kind of operation, and one for all of them.
std::string ReplayJson(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location);

}  // namespace stele::cli
