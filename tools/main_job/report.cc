#include "report.h"

#include "fmt/format.h"

namespace stele::main_job {
namespace {

std::string Rate(uint64_t amount, double seconds) {
  return amount == 0 || seconds <= 0
             ? "-"
             : Grouped(static_cast<uint64_t>(static_cast<double>(amount) / seconds));
}

std::string Amount(uint64_t amount) { return amount == 0 ? "-" : Grouped(amount); }

}  // namespace

std::string Grouped(uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string Megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string ReportText(const std::vector<Step>& steps) {
  constexpr std::string_view kLine = "{:<34}{:>9}{:>11}{:>12}{:>12}{:>12}{:>8}\n";
  std::string text =
      fmt::format(kLine, "step", "seconds", "rows", "cells", "rows/s", "cells/s", "MB/s");
  for (const Step& step : steps) {
    const std::string bytes_rate =
        step.bytes == 0 || step.seconds <= 0
            ? "-"
            : fmt::format("{:.1f}", static_cast<double>(step.bytes) / step.seconds / 1e6);
    text += fmt::format(kLine, step.what, fmt::format("{:.3f}", step.seconds), Amount(step.rows),
                        Amount(step.cells), Rate(step.rows, step.seconds),
                        Rate(step.cells, step.seconds), bytes_rate);
  }
  return text;
}

}  // namespace stele::main_job
