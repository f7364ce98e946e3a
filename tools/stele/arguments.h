// tools/stele/arguments.h: parses cbt's key=value arguments, numbers and cells.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

using KeyValues = std::map<std::string, std::string, std::less<>>;

// Parses each argument as KEY=VALUE. KEY must be in `allowed`, and may be given once.
absl::StatusOr<KeyValues> ParseKeyValues(std::span<const std::string> args,
                                         std::initializer_list<std::string_view> allowed);
std::optional<std::string> Find(const KeyValues& values, std::string_view key);

// Parse whole numbers and booleans. `name` is used in error messages.
absl::StatusOr<int64_t> ParseNumber(std::string_view name, std::string_view text);
absl::StatusOr<bool> ParseBool(std::string_view name, std::string_view text);
// Parses "30s", "500ms", "2m" or "1h".
absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view name,
                                                       std::string_view text);

// Returns the positive number before `ending`, such as 500 of "500/s". Nothing for other texts.
std::optional<double> PositiveBefore(std::string_view text, std::string_view ending);

// "VALUE@TIMESTAMP". If the text after the last '@' is not a number, the whole text is the value.
struct StampedValue {
  std::string value;
  std::optional<Timestamp> timestamp;
};
// Errors: a usage error for a number that is no timestamp.
absl::StatusOr<StampedValue> ParseStampedValue(std::string_view text);

// Reads a row key or a qualifier: \xNN is a byte, and two backslashes are one (key_bytes.h).
absl::StatusOr<std::string> ParseKey(std::string_view text);

// "FAMILY:QUALIFIER=VALUE[@TIMESTAMP]". A qualifier has the escapes of ParseKey.
struct CellArgument {
  std::string family;
  std::string qualifier;
  StampedValue value;
};
absl::StatusOr<CellArgument> ParseCellArgument(std::string_view verb, std::string_view text);

// Splits at every `separator`. "" is one empty part.
std::vector<std::string> Split(std::string_view text, char separator);
// Returns the range given by prefix=, start= and end=, as in cbt's read.
absl::StatusOr<RowRange> ParseRange(const KeyValues& values);

}  // namespace stele::cli
