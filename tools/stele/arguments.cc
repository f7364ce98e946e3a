#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status.h"
#include "key_bytes.h"
#include "session.h"

namespace stele::cli {

absl::StatusOr<KeyValues> ParseKeyValues(std::span<const std::string> args,
                                         std::initializer_list<std::string_view> allowed) {
  KeyValues values;
  for (const std::string& arg : args) {
    const size_t equals = arg.find('=');
    if (equals == std::string::npos) return UsageError(fmt::format("bad arg \"{}\"", arg));
    const std::string key = arg.substr(0, equals);
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      return UsageError(fmt::format("unknown arg key \"{}\"", key));
    if (!values.emplace(key, arg.substr(equals + 1)).second)
      return UsageError(fmt::format("\"{}\" is given twice", key));
  }
  return values;
}

std::optional<std::string> Find(const KeyValues& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<int64_t> ParseNumber(std::string_view name, std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return UsageError(fmt::format("Bad {} \"{}\": not a whole number", name, text));
  }
  return number;
}

absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view name,
                                                       std::string_view text) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"ms", 1'000'000},
      {"s", 1'000'000'000},
      {"m", int64_t{60} * 1'000'000'000},
      {"h", int64_t{3600} * 1'000'000'000}};
  const size_t digits = text.find_first_not_of("0123456789");
  for (const auto& [unit, nanos] : kUnits) {
    if (digits == text.npos || digits == 0 || digits > 6 || text.substr(digits) != unit) continue;
    return std::chrono::nanoseconds(std::stoll(std::string(text.substr(0, digits))) * nanos);
  }
  return UsageError(
      fmt::format("{} must be a time such as 30s, 500ms or 2m, not \"{}\"", name, text));
}

absl::StatusOr<bool> ParseBool(std::string_view name, std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return false;
  }
  return UsageError(fmt::format("Bad {} \"{}\": must be true or false", name, text));
}

std::optional<double> PositiveBefore(std::string_view text, std::string_view ending) {
  if (!text.ends_with(ending)) return std::nullopt;
  text.remove_suffix(ending.size());
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  constexpr double kMax = 1e12;
  if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || number > kMax)
    return std::nullopt;
  return number;
}

absl::StatusOr<StampedValue> ParseStampedValue(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view digits = text.substr(at + 1);
    int64_t micros = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), micros);
    const bool is_number = end == digits.data() + digits.size();
    if (is_number && error == std::errc::result_out_of_range)
      return UsageError(
          fmt::format("the timestamp after the last @ is not a number of 64 bits: {}", digits));
    if (is_number && error == std::errc())
      return StampedValue{std::string(text.substr(0, at)), Timestamp::FromMicros(micros)};
  }
  return StampedValue{std::string(text), std::nullopt};
}

absl::StatusOr<std::string> ParseKey(std::string_view text) {
  absl::StatusOr<std::string> key = UnescapedKey(text);
  return key.ok() ? key : UsageError(internal::ToStd(key.status().message()));
}

absl::StatusOr<CellArgument> ParseCellArgument(std::string_view verb, std::string_view text) {
  const size_t colon = text.find(':');
  const size_t equals = colon == std::string_view::npos ? colon : text.find('=', colon);
  if (colon == 0 || equals == std::string_view::npos) {
    return UsageError(fmt::format(
        "Bad {} arg \"{}\": must have the form FAMILY:COLUMN=VALUE[@TIMESTAMP]", verb, text));
  }
  STELE_ASSIGN_OR_RETURN(std::string qualifier,
                         ParseKey(text.substr(colon + 1, equals - colon - 1)));
  STELE_ASSIGN_OR_RETURN(StampedValue value, ParseStampedValue(text.substr(equals + 1)));
  return CellArgument{std::string(text.substr(0, colon)), std::move(qualifier), std::move(value)};
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t next = text.find(separator);
    parts.emplace_back(text.substr(0, next));
    if (next == std::string_view::npos) return parts;
    text.remove_prefix(next + 1);
  }
}

absl::StatusOr<RowRange> ParseRange(const KeyValues& values) {
  const auto key_of = [&values](std::string_view name) -> absl::StatusOr<std::string> {
    return ParseKey(Find(values, name).value_or(""));
  };
  STELE_ASSIGN_OR_RETURN(std::string start, key_of("start"));
  STELE_ASSIGN_OR_RETURN(std::string end, key_of("end"));
  const bool has_start = Find(values, "start").has_value();
  const bool has_end = Find(values, "end").has_value();
  if (Find(values, "prefix").has_value()) {
    if (has_start || has_end)
      return UsageError("\"start\"/\"end\" may not be mixed with \"prefix\"");
    STELE_ASSIGN_OR_RETURN(const std::string prefix, key_of("prefix"));
    return RowRange::Prefix(prefix);
  }
  if (!has_end) return has_start ? RowRange::StartingAt(start) : RowRange::All();
  return RowRange::RightOpen(start, end);
}

}  // namespace stele::cli
