// tools/stele/bench/calls.h: the options of the calls of `stele bench`, and the counts of the cells
// that they read.
//
// Threads:   Pure functions.
#pragma once

#include <chrono>

#include "bench/cell_sum.h"
#include "bench/counts.h"
#include "stele/stele.h"

namespace stele::cli {

constexpr std::chrono::seconds kCallDeadline(60);

inline ReadOptions MakeReadOptions() {
  return {.deadline = std::chrono::steady_clock::now() + kCallDeadline};
}
inline WriteOptions MakeWriteOptions() {
  return {.deadline = std::chrono::steady_clock::now() + kCallDeadline};
}

// Adds the cells of a row that was read, or of a piece of one.
template <typename Cells>
void Count(const Cells& cells, BenchCounts* counts) {
  counts->cells += cells.size();
  for (const auto& cell : cells) {
    counts->value_bytes += cell.value().size();
    counts->checksum +=
        CellSum(cell.family(), cell.qualifier(), /*timestamp_micros=*/0, cell.value());
  }
}

}  // namespace stele::cli
