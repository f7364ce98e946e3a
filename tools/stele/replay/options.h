// tools/stele/replay/options.h: parses the flags of `stele replay`.
//
// Threads:   Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "flags.h"
#include "replay/pace.h"

namespace stele::cli {

struct ReplayOptions {
  enum class Writes : uint8_t {
    kApply,       // all but range deletes
    kSkip,        // none
    kApplyDrops,  // also range deletes
  };

  std::string trace_path;
  std::string design_path;                    // of a logical trace; "": the trace is a recorded one
  std::string design_table;                   // "": the only one with queries
  std::map<std::string, std::string> tables;  // the name in the trace, the name in the database

  Pace pace = Pace::Recorded();
  uint64_t threads = 8;
  uint64_t warmup_operations = 0;      // these and
  std::chrono::nanoseconds warmup{0};  // those of the first time run, and are not counted
  std::optional<uint64_t> limit;       // the number of operations
  Writes writes = Writes::kApply;
  uint64_t seed = 1;
  bool skips_bad = false;

  std::string hgrm_path;  // "": no file
  std::string hlog_path;
};

// Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<ReplayOptions> ParseReplayOptions(const Flags& flags);

}  // namespace stele::cli
