// tools/stele/bench/counts.h: counts of the rows, cells and bytes that operations of `stele bench`
// returned or wrote.
//
// Threads:   Plain values.
#pragma once

#include <cstdint>

namespace stele::cli {

struct BenchCounts {
  uint64_t operations = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t value_bytes = 0;
  uint64_t checksum = 0;    // of the cells that were read: the sum of CellSum without timestamps
  uint64_t bytes_read = 0;  // from files, by the engine's scans; 0 for a server
  uint64_t late = 0;        // open loop: operations that began more than 1 ms after they were due
  uint64_t not_begun = 0;   // open loop: operations that were due and did not begin

  BenchCounts& operator+=(const BenchCounts& other) {
    operations += other.operations;
    rows += other.rows;
    cells += other.cells;
    value_bytes += other.value_bytes;
    checksum += other.checksum;
    bytes_read += other.bytes_read;
    late += other.late;
    not_begun += other.not_begun;
    return *this;
  }
};

}  // namespace stele::cli
