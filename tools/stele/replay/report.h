// tools/stele/replay/report.h: the output of `stele replay`.
//
// Units:     latencies in microseconds with one decimal digit, MB of 1,000,000 value bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/options.h"
#include "replay/runner.h"

namespace stele::cli {

struct ReplayColumn {
  std::string_view name;
  size_t width = 0;  // in the text
};
inline constexpr ReplayColumn kReplayColumns[] = {
    {"operations", 10}, {"ops/s", 9},  {"rows/s", 10}, {"cells/s", 10},
    {"MB/s", 7},        {"p50 us", 8}, {"p90 us", 8},  {"p99 us", 8},
    {"p99.9 us", 9},    {"max us", 9}, {"mean us", 8}};

struct ReplayLine {
  std::string name;                // the kind of operation
  std::vector<std::string> cells;  // of kReplayColumns
};

// The report for people. Bytes of the user that are not printable are escaped.
struct ReplayReport {
  std::string head;               // whole lines: the settings
  std::vector<ReplayLine> lines;  // the last one is the sum
  std::string notes;              // whole lines
};

ReplayReport MakeReplayReport(const ReplayOptions& options, const ReplayResult& result,
                              const std::string& location);
std::string ReplayText(const ReplayReport& report);
// A line with the settings, one line per kind of operation, and one for all of them.
std::string ReplayJson(const ReplayOptions& options, const ReplayResult& result,
                       const std::string& location);

}  // namespace stele::cli
