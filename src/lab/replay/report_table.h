// replay/report_table.h: the figures of a replay as texts, for a terminal and a page.
//
// Units:     latencies in microseconds with one decimal digit, MB of 1,000,000 value bytes.
// Threads:   a pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stele/lab/replay.h"

namespace stele::internal::lab {

// The line of the sum of all kinds.
inline constexpr std::string_view kAllOperations = "all";

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
struct ReplayTable {
  std::string head;               // whole lines: the settings
  std::vector<ReplayLine> lines;  // the last one is the sum
  std::string notes;              // whole lines
};

ReplayTable MakeReplayTable(const stele::lab::ReplayReport& report);

}  // namespace stele::internal::lab
