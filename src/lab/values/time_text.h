// values/time_text.h: parses times of exports and of attributes.
//
// Units:     microseconds since 1970-01-01T00:00:00Z.
// Threads:   a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stele::internal::lab {

// Parses RFC 3339 or digits.
//   RFC 3339  the offset is optional, default UTC; a space may replace 'T'; a date is its midnight
//   digits    10 are seconds, 13 milliseconds, 16 microseconds
// Digits below a microsecond, and times before 1970, give no result.
std::optional<int64_t> ParseTime(std::string_view text);
// The same, also for times before 1970, which are negative.
std::optional<int64_t> ParseTimeOfAnyYear(std::string_view text);

}  // namespace stele::internal::lab
