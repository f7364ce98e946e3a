// tools/stele/compare/options.h: parses the flags of `stele compare-designs` and `stele trace
// synth`.
//
// Threads:   Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/random.h"
#include "flags.h"
#include "stele/timestamp.h"

namespace stele::cli {

struct CompareOptions {
  std::vector<std::string> design_paths;      // at least two
  std::string table;                          // ""; the only one that has the queries
  std::map<std::string, std::string> inputs;  // --input, by name
  uint64_t operations = 10'000;
  Distribution distribution;  // of the records that give the parameters
  uint64_t threads = 1;
  uint64_t rounds = 3;
  uint64_t seed = 1;
  uint64_t records_max = 0;  // of each input. 0: all
  Timestamp time;            // of cells for which a design has none
  bool allows_duplicates = false;
  std::string trace_path;      // --trace: a logical trace instead of drawn operations; "": none
  double rate = 1000;          // of `trace synth`: operations per second
  std::string keep_directory;  // "": a temporary one
  std::string output_path;     // -o, which must not replace a file that is read; "": none
};

// Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<CompareOptions> ParseCompareOptions(const Flags& flags);

}  // namespace stele::cli
