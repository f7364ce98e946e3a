// tools/stele/replay/pace.h: parses the flag --rate: when the operations of a trace are due.
//
// Threads:   a pure function.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "stele/lab/replay.h"

namespace stele::cli {

using Pace = lab::ReplayRate;

// Parses "recorded", a factor such as "2x", operations per second such as "500/s", or "max".
// Errors: a usage error.
absl::StatusOr<Pace> ParsePace(const std::string& text);

}  // namespace stele::cli
