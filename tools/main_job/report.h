// tools/main_job/report.h: the table of steps that is printed at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stele::main_job {

struct Step {
  std::string what;
  double seconds = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
};

// Returns one line per step with its rates, or "-" if a step has no such figure.
std::string ReportText(const std::vector<Step>& steps);
// Formats a number as "1,234,567".
std::string Grouped(uint64_t number);
// Formats a size as "12.3 MB", in units of a million bytes.
std::string Megabytes(uint64_t bytes);

}  // namespace stele::main_job
