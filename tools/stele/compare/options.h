// tools/stele/compare/options.h: parses the flags of `stele compare-designs` and `stele trace
// synth`.
//
// Threads:   Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/random.h"
#include "compare/estimate.h"
#include "flags.h"
#include "replay/pace.h"
#include "stele/timestamp.h"

namespace stele::cli {

struct CompareOptions {
  enum class Caches : uint8_t { kWarm, kCold, kBoth };

  std::vector<std::string> design_paths;      // at least two
  std::string table;                          // ""; the only one that has the queries
  std::map<std::string, std::string> inputs;  // --input, by name
  uint64_t operations = 10'000;
  Distribution distribution;  // of the records that give the parameters
  Pace pace = Pace::Max();
  Caches caches = Caches::kWarm;
  uint64_t threads = 1;
  uint64_t rounds = 3;
  uint64_t seed = 1;
  uint64_t records_max = 0;  // of each input. 0: all
  Timestamp time;            // of cells for which a design has none
  bool allows_duplicates = false;
  std::string trace_path;      // --trace: a logical trace instead of drawn operations; "": none
  std::string keep_directory;  // "": a temporary one
  std::optional<EstimateSettings> estimate;
  std::string output_path;  // -o, which must not replace a file that is read; "": none

  bool writes_page() const { return output_path.ends_with(".html"); }
};

// Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<CompareOptions> ParseCompareOptions(const Flags& flags);
// The same, without --rate.
absl::StatusOr<CompareOptions> ParseCompareOptions(const Flags& flags, const Pace& pace);

}  // namespace stele::cli
