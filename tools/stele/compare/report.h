// tools/stele/compare/report.h: what `stele compare-designs` reports to people.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <string>

#include "compare/figure_table.h"
#include "compare/options.h"
#include "compare/runner.h"
#include "compare/workload.h"

namespace stele::cli {

// Texts are whole lines. Bytes of the user that are not printable are escaped.
struct CompareReport {
  std::string run;      // what ran: one line
  std::string answers;  // lines about the answers of the designs
  std::string notes;    // may be ""
  FigureTable figures;
  std::string findings;  // of the advisor; may be ""
};

CompareReport MakeReport(const CompareOptions& options, const LogicalWorkload& workload,
                         const CompareResult& result);

// A table with a column per design and a line per figure, findings, and a summary.
std::string CompareText(const CompareReport& report);

}  // namespace stele::cli
