// tools/stele/replay/options.h: parses the flags of `stele replay`.
//
// Threads:   Plain values.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "flags.h"
#include "stele/lab/replay.h"

namespace stele::cli {

struct ReplayFlags {
  std::string trace_path;
  std::string design_path;     // of a logical trace; "": the trace is a recorded one
  lab::ReplayOptions options;  // without the design
  std::string hgrm_path;       // "": no file
  std::string hlog_path;
};

// Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<ReplayFlags> ParseReplayFlags(const Flags& flags);

}  // namespace stele::cli
