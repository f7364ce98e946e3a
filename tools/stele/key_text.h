// tools/stele/key_text.h: parts of row keys as text on the command line: widths, times and kinds.
//
// Errors:    InvalidArgument with the wrong text.
// Threads:   pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "row_text.h"
#include "stele/keys.h"

namespace stele::cli {

// Reads "1m", "15s", "500ms": a number and a unit of d, h, m, s, ms or us.
absl::StatusOr<std::chrono::microseconds> ParseWidth(std::string_view text);
// Reads a time in RFC 3339, or digits of microseconds. Without an offset, the time is in UTC.
absl::StatusOr<Timestamp> ParseTime(std::string_view text);

// Returns what a part of a key looks like: "digits", "time in ms, 2015-02-...", "host name".
std::string KindOfSegment(std::string_view segment);

}  // namespace stele::cli
