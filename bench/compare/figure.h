// bench/compare/figure.h: what one workload of one engine in one round cost, and what it read.
//
// A Figure has no pointers: the process that ran the workload sends it to the one that asked for it as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stele_compare {

struct Figure {
  double value = 0;           // in the workload's unit; 0 where nothing was timed
  double seconds = 0;         // the timed part
  double settle_seconds = 0;  // after it, until nothing ran in the background
  double cpu_seconds = 0;     // of all threads, over the timed part and the settling
  uint64_t operation_count = 0;
  uint64_t rss_bytes = 0;      // the process's peak over the same
  uint64_t disk_bytes = 0;     // of the engine's directory, afterwards
  uint64_t written_bytes = 0;  // given to write(), over the same
  uint64_t user_bytes = 0;     // of the rows that were written, as a user counts them
  uint64_t hash = 0;           // of everything read
  uint64_t cell_count = 0;     // read
  // Of an operation, where operations are timed one by one.
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  char note[160] = {};   // what else a reader of the figure has to know; "": nothing
  char error[480] = {};  // "": it worked
};

// Copies what fits.
void SetText(char* out, size_t out_bytes, std::string_view text);

}  // namespace stele_compare
