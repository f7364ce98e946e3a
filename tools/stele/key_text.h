// tools/stele/key_text.h: parses widths and times of row keys on the command line, and names the
// kinds of key parts.
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

// Returns the kind of a part of a key: "digits", "time in ms, 2015-02-...", "host name".
std::string KindOfSegment(std::string_view segment);

}  // namespace stele::cli
