// kinds/value_kinds.h: the kinds of text in row keys: times, numbers, hashes, host names.
//
// Threads:   pure functions.
#pragma once

#include <optional>
#include <string_view>

namespace stele::internal::lab {

// True for one or more of the characters 0 to 9.
bool IsDigits(std::string_view text);

// A point in time:
//   digits   10 seconds, 13 milliseconds, 16 microseconds or 19 nanoseconds, years 2000 to 2100
//   a date   yyyymmdd, yyyymmddhhmm or yyyymmddhhmmss, years 1900 to 2099
//   ISO 8601 a date, or a date and a time
bool IsTime(std::string_view text);

// A time that was subtracted from a maximum, so that the newest one sorts first:
//   19 digits from 9223372036854775807 (ms or us), 13 from 9999999999999, 8 from 99999999
bool IsReversedTime(std::string_view text);

// Two or more labels of letters, digits, '-' and '_', separated by dots.
bool IsHostName(std::string_view text);

// Text that a hash or a random generator makes.
enum class HashForm { kNone, kHex, kUuid };
// kHex: 8 or more hexadecimal digits. kUuid: groups of 8-4-4-4-12 of them.
HashForm HashFormOf(std::string_view text);
// 16 or more characters of base64, or of its form for URLs.
bool IsBase64Text(std::string_view text);

}  // namespace stele::internal::lab
