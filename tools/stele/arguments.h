// tools/stele/arguments.h: cbt's key=value arguments, numbers and cells.
#pragma once

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

// Each argument as KEY=VALUE with a key of `allowed`.
absl::StatusOr<KeyValues> ParseKeyValues(std::span<const std::string> args, std::initializer_list<std::string_view> allowed);
std::optional<std::string> Find(const KeyValues& values, std::string_view key);

// Whole numbers; `name` is for the message.
absl::StatusOr<int64_t> ParseNumber(std::string_view name, std::string_view text);
absl::StatusOr<bool> ParseBool(std::string_view name, std::string_view text);

// "VALUE@TIMESTAMP": where what follows the last '@' is no number, all of it is the value.
struct StampedValue {
  std::string value;
  std::optional<Timestamp> timestamp;
};
StampedValue ParseStampedValue(std::string_view text);

// "FAMILY:QUALIFIER=VALUE[@TIMESTAMP]".
struct CellArgument {
  std::string family;
  std::string qualifier;
  StampedValue value;
};
absl::StatusOr<CellArgument> ParseCellArgument(std::string_view verb, std::string_view text);

// Splits at every `separator`; "" is one empty part.
std::vector<std::string> Split(std::string_view text, char separator);
// The range of prefix=, start=, end=, as cbt's read takes them.
absl::StatusOr<RowRange> ParseRange(const KeyValues& values);

}  // namespace stele::cli
