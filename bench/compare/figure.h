// bench/compare/figure.h: the cost of one workload of one engine in one round, and the hash of the
// data it read.
//
// A Figure has no pointers: the process that ran the workload sends it as bytes to the process that
// started it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stele_compare {

struct Figure {
  double value = 0;           // in the workload's unit; 0: not timed
  double seconds = 0;         // the timed part
  double settle_seconds = 0;  // from its end until no background work was left
  double cpu_seconds = 0;     // all threads, over the timed part and the settle time
  uint64_t operation_count = 0;
  uint64_t rss_bytes = 0;      // the process's peak over the same time
  uint64_t disk_bytes = 0;     // the engine's directory, at the end
  uint64_t written_bytes = 0;  // passed to write(), over the same time
  uint64_t user_bytes = 0;     // written rows, as a user counts them
  uint64_t hash = 0;           // of all data read
  uint64_t cell_count = 0;     // cells read
  // Latency of an operation, where each operation is timed.
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  char note[160] = {};   // a remark for the report; "": none
  char error[480] = {};  // "": success
};

// Copies `text`, cut to the size of `out`.
void SetText(char* out, size_t out_bytes, std::string_view text);

}  // namespace stele_compare
