// compare_report/report_text.h: what the report of a comparison says to people.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <string>

#include "lab/compare_report/figure_table.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// Texts are whole lines. Bytes of the user that are not printable are escaped.
struct CompareLines {
  std::string run;      // what ran: one line
  std::string answers;  // lines about the answers of the designs
  std::string notes;    // may be ""
  FigureTable figures;
  std::string findings;  // of the advisor; may be ""
};

CompareLines MakeCompareLines(const stele::lab::CompareReport& report);

}  // namespace stele::internal::lab
