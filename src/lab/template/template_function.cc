#include "lab/template/template_function.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/values/time_text.h"
#include "stele/keys.h"

namespace stele::internal::lab {
namespace {

using Kind = TemplateFunction::Kind;

constexpr int64_t kWidthMax = 4096;
constexpr int64_t kBucketsMax = 1000;
constexpr int64_t kSecondAsMicros = 1'000'000;

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// The functions without an argument.
struct PlainFunction {
  std::string_view name;
  Kind kind;
};
constexpr std::array<PlainFunction, 14> kPlainFunctions = {{{"json", Kind::kJson},
                                                            {"lower", Kind::kLower},
                                                            {"upper", Kind::kUpper},
                                                            {"trim", Kind::kTrim},
                                                            {"seconds", Kind::kSeconds},
                                                            {"millis", Kind::kMillis},
                                                            {"micros", Kind::kMicros},
                                                            {"day", Kind::kDay},
                                                            {"hour", Kind::kHour},
                                                            {"month", Kind::kMonth},
                                                            {"iso_day", Kind::kIsoDay},
                                                            {"rev_ts", Kind::kReverseTimestamp},
                                                            {"rev_date", Kind::kReverseDate},
                                                            {"rev_domain", Kind::kReverseDomain}}};

absl::StatusOr<TemplateFunction> ParseNumbered(Kind kind, std::string_view name,
                                               std::string_view argument, int64_t least,
                                               int64_t most) {
  const auto number = WholeNumber(argument);
  if (!number.has_value() || *number < least || *number > most)
    return InvalidArgument("{} needs a whole number from {} to {}: {}:N", name, least, most, name);
  return TemplateFunction{.kind = kind, .number = *number};
}

absl::StatusOr<TemplateFunction> ParseSubstring(std::string_view argument) {
  const size_t colon = argument.find(':');
  if (colon != std::string_view::npos) {
    const auto from = WholeNumber(argument.substr(0, colon));
    const auto length = WholeNumber(argument.substr(colon + 1));
    if (from.has_value() && length.has_value())
      return TemplateFunction{.kind = Kind::kSubstring, .number = *from, .length = *length};
  }
  return InvalidArgument("sub needs two whole numbers: sub:FROM:LEN");
}

// Parses a width such as 15m. Returns microseconds.
std::optional<int64_t> ParseTimeWidth(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 6> kUnits = {
      {{"us", 1},
       {"ms", 1000},
       {"s", kSecondAsMicros},
       {"m", 60 * kSecondAsMicros},
       {"h", 3600 * kSecondAsMicros},
       {"d", 86'400 * kSecondAsMicros}}};
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = WholeNumber(text.substr(0, digits));
  for (const auto& [name, micros] : kUnits) {
    if (name != text.substr(digits)) continue;
    if (!count.has_value() || *count == 0 || *count > std::numeric_limits<int64_t>::max() / micros)
      return std::nullopt;
    return *count * micros;
  }
  return std::nullopt;
}

absl::StatusOr<TemplateFunction> ParseBucketTime(std::string_view argument) {
  const size_t colon = argument.find(':');
  const auto width = ParseTimeWidth(argument.substr(0, colon));
  if (!width.has_value())
    return InvalidArgument(
        "bucket_time needs a width such as 15m, and may have a unit: "
        "bucket_time:15m:s");
  TemplateFunction function{.kind = Kind::kBucketTime, .number = *width};
  const std::string_view unit = colon == argument.npos ? "ms" : argument.substr(colon + 1);
  if (unit != "s" && unit != "ms" && unit != "us")
    return InvalidArgument("the unit of bucket_time is s, ms or us");
  function.length = static_cast<int64_t>(unit == "s"    ? keys::TimeUnit::kSeconds
                                         : unit == "ms" ? keys::TimeUnit::kMillis
                                                        : keys::TimeUnit::kMicros);
  // The function fails for each time if its width is wrong.
  STELE_RETURN_IF_ERROR(keys::BucketTime(0, std::chrono::microseconds(function.number),
                                         static_cast<keys::TimeUnit>(function.length))
                            .status());
  return function;
}

// A time as its day and its microseconds since midnight, UTC.
struct DayAndTime {
  std::chrono::year_month_day day;
  int64_t micros;
};

DayAndTime SplitTime(int64_t micros) {
  const auto time =
      std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(micros));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {.day = day, .micros = (time - day).count()};
}

std::string DayText(int64_t micros, Kind kind) {
  const DayAndTime split = SplitTime(micros);
  const int year = static_cast<int>(split.day.year());
  const unsigned month = static_cast<unsigned>(split.day.month());
  const unsigned day = static_cast<unsigned>(split.day.day());
  if (kind == Kind::kMonth) return fmt::format("{:04}{:02}", year, month);
  if (kind == Kind::kDay) return fmt::format("{:04}{:02}{:02}", year, month, day);
  if (kind == Kind::kIsoDay) return fmt::format("{:04}-{:02}-{:02}", year, month, day);
  const int64_t hour = split.micros / (3600 * kSecondAsMicros);
  return fmt::format("{:04}{:02}{:02}{:02}", year, month, day, hour);
}

absl::StatusOr<std::string> ApplyToTime(Kind kind, std::string_view text) {
  const std::optional<int64_t> micros = ParseTimeOfAnyYear(text);
  if (!micros.has_value()) {
    return InvalidArgument(
        "\"{}\" is not a time: RFC 3339, or digits of seconds (10), milliseconds (13) or "
        "microseconds (16)",
        Printable(text));
  }
  const int64_t unit = kind == Kind::kSeconds  ? kSecondAsMicros
                       : kind == Kind::kMillis ? 1000
                       : kind == Kind::kMicros ? 1
                                               : 0;
  if (unit == 0) return DayText(*micros, kind);
  if (*micros < 0)
    return InvalidArgument("\"{}\" is before 1970 and has no digits", Printable(text));
  return fmt::format("{}", *micros / unit);
}

std::string InCase(std::string_view text, char first, char last, int distance) {
  std::string result(text);
  for (char& c : result) {
    if (c >= first && c <= last) c = static_cast<char>(c + distance);
  }
  return result;
}

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin));
}

absl::StatusOr<int64_t> NumberInText(std::string_view text) {
  const auto number = WholeNumber(text);
  if (number.has_value()) return *number;
  if (ParseTimeOfAnyYear(text).has_value())
    return InvalidArgument("\"{}\" is a time: put seconds, millis or micros before this function",
                           Printable(text));
  return InvalidArgument("\"{}\" is not a whole number from 0 to {}", Printable(text),
                         std::numeric_limits<int64_t>::max());
}

absl::StatusOr<std::string> ApplyBucketTime(const TemplateFunction& function,
                                            std::string_view text) {
  STELE_ASSIGN_OR_RETURN(const int64_t time, NumberInText(text));
  STELE_ASSIGN_OR_RETURN(const int64_t bucket,
                         keys::BucketTime(time, std::chrono::microseconds(function.number),
                                          static_cast<keys::TimeUnit>(function.length)));
  return fmt::format("{}", bucket);
}

absl::StatusOr<std::string> ApplyReverseTimestamp(std::string_view text) {
  STELE_ASSIGN_OR_RETURN(const int64_t number, NumberInText(text));
  return keys::ReverseMillis(number);
}

absl::StatusOr<std::string> ApplyEscape(std::string_view text, std::string_view delimiter) {
  constexpr size_t kAddedBytes = 2;  // by an escape
  const auto escapes = std::count_if(text.begin(), text.end(), [&](char c) {
    return c == '%' || delimiter.find(c) != std::string_view::npos;
  });
  if (text.size() + kAddedBytes * static_cast<size_t>(escapes) > kTemplateTextBytesMax)
    return InvalidArgument("the text has more than {} bytes", kTemplateTextBytesMax);
  return keys::JoinEscaped(std::array<std::string_view, 1>{text}, delimiter);
}

}  // namespace

absl::StatusOr<TemplateFunction> ParseTemplateFunction(std::string_view spelled) {
  const size_t colon = spelled.find(':');
  const std::string_view name = spelled.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? spelled.substr(colon + 1) : "";
  for (const PlainFunction& plain : kPlainFunctions) {
    if (plain.name != name) continue;
    if (has_argument) return InvalidArgument("{} has no argument", name);
    return TemplateFunction{.kind = plain.kind};
  }
  if (name == "or") {
    if (!has_argument) return InvalidArgument("or needs a text: or:TEXT");
    return TemplateFunction{.kind = Kind::kOr, .text = std::string(argument)};
  }
  if (name == "pad") return ParseNumbered(Kind::kPad, name, argument, 1, kWidthMax);
  if (name == "salt") return ParseNumbered(Kind::kSalt, name, argument, 2, kBucketsMax);
  if (name == "sub") return ParseSubstring(argument);
  if (name == "bucket_time") return ParseBucketTime(argument);
  if (name == "rev_digits") {
    if (!has_argument) return TemplateFunction{.kind = Kind::kReverseDigits};
    return ParseNumbered(Kind::kReverseDigits, name, argument, 1, kWidthMax);
  }
  if (name == "escape") {
    const std::string delimiter(has_argument ? argument : "#");
    STELE_RETURN_IF_ERROR(ApplyEscape("", delimiter).status());
    return TemplateFunction{.kind = Kind::kEscape, .text = delimiter};
  }
  return InvalidArgument("\"{}\" is not a function", Printable(name));
}

absl::StatusOr<std::string> Apply(const TemplateFunction& function, std::string_view text) {
  const int number = static_cast<int>(std::min<int64_t>(function.number, kWidthMax));
  switch (function.kind) {
    case Kind::kOr:
    case Kind::kJson:
      return std::string(text);
    case Kind::kLower:
      return InCase(text, 'A', 'Z', 'a' - 'A');
    case Kind::kUpper:
      return InCase(text, 'a', 'z', 'A' - 'a');
    case Kind::kTrim:
      return Trimmed(text);
    case Kind::kSubstring:
      return std::string(
          text.substr(std::min<size_t>(text.size(), static_cast<size_t>(function.number)),
                      static_cast<size_t>(function.length)));
    case Kind::kPad:
      return keys::Pad(text, number);
    case Kind::kReverseTimestamp:
      return ApplyReverseTimestamp(text);
    case Kind::kReverseDate:
      return keys::ReverseDate(text);
    case Kind::kReverseDigits:
      return keys::ReverseDigits(text, number);
    case Kind::kReverseDomain:
      return keys::ReverseDomain(text);
    case Kind::kSalt:
      return keys::SaltBucket(text, number);
    case Kind::kBucketTime:
      return ApplyBucketTime(function, text);
    case Kind::kEscape:
      return ApplyEscape(text, function.text);
    default:
      return ApplyToTime(function.kind, text);
  }
}

}  // namespace stele::internal::lab
