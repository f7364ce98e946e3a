// compare_report/report_text.h: the texts and the table that all forms of the report of a
// comparison share.
//
// Units:     latencies in microseconds with one decimal digit.
// Threads:   Pure functions.
#pragma once

#include <string>
#include <vector>

#include "lab/compare_report/figure_table.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// Texts are lines without their ends. Bytes of the user that are not printable are escaped.
struct CompareLines {
  std::vector<std::string> loaded;   // one per design
  std::string replayed;              // the workload that ran
  std::vector<std::string> answers;  // of the group "answers"
  std::vector<std::string> notes;    // may be empty
  FigureTable figures;               // with the findings of the advisor
};

CompareLines MakeCompareLines(const stele::lab::CompareReport& report);

// Returns the heat map of the page and of the JSON: page_heat_map, or heat_map if there is none.
const stele::lab::HeatMap& PageMap(const stele::lab::CompareReport::DesignFigures& design);

}  // namespace stele::internal::lab
