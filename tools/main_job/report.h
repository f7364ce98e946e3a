// tools/main_job/report.h: the table of what was done, printed at the end.
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

// A line per step with its rates; "-" where a step has no such number.
std::string ReportText(const std::vector<Step>& steps);
// "1,234,567"
std::string Grouped(uint64_t number);
// "12.3 MB", of a million bytes.
std::string Megabytes(uint64_t bytes);

}  // namespace stele::main_job
