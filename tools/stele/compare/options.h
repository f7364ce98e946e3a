// tools/stele/compare/options.h: parses the flags of `stele compare-designs` and `stele trace
// synth`.
//
// Threads:   Plain values.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "flags.h"
#include "replay/pace.h"
#include "stele/lab/compare.h"

namespace stele::cli {

struct CompareFlags {
  std::vector<std::string> design_paths;  // at least two
  std::string keep_directory;             // "": a temporary one
  lab::CompareOptions options;  // without the designs, the work directory and the estimate
};

// Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<CompareFlags> ParseCompareFlags(const Flags& flags);
// The same, without --rate.
absl::StatusOr<CompareFlags> ParseCompareFlags(const Flags& flags, const Pace& pace);

}  // namespace stele::cli
