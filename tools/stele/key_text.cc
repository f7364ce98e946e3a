#include "key_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/ascii.h"
#include "base/status.h"

namespace stele::cli {
namespace {

constexpr int64_t kMicrosOf2000 = 946'684'800'000'000;
constexpr int64_t kMicrosOf2101 = 4'133'980'800'000'000;

bool AreDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Reads all of `text` as a number.
bool ReadNumber(std::string_view text, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Reads a number of exactly `digits` digits and removes it from the text.
bool ConsumeDigits(std::string_view& text, size_t digits, int64_t* number) {
  if (!AreDigits(text.substr(0, digits)) || text.size() < digits) return false;
  const bool read = ReadNumber(text.substr(0, digits), number);
  text.remove_prefix(digits);
  return read;
}

bool Consume(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Reads yyyy-mm-dd, or yyyymmdd if `dash` is false, as microseconds since the epoch.
bool ConsumeDate(std::string_view& text, bool dash, int64_t* micros) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!ConsumeDigits(text, 4, &year) || (dash && !Consume(text, '-')) ||
      !ConsumeDigits(text, 2, &month) || (dash && !Consume(text, '-')) ||
      !ConsumeDigits(text, 2, &day))
    return false;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  *micros = std::chrono::microseconds(std::chrono::sys_days(date).time_since_epoch()).count();
  return true;
}

// Reads hh:mm:ss and up to six digits of a fraction.
bool ConsumeClock(std::string_view& text, int64_t* micros) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!ConsumeDigits(text, 2, &hour) || !Consume(text, ':') || !ConsumeDigits(text, 2, &minute) ||
      !Consume(text, ':') || !ConsumeDigits(text, 2, &second) || hour > 23 || minute > 59 ||
      second > 59)
    return false;
  *micros += ((hour * 60 + minute) * 60 + second) * 1'000'000;
  if (!Consume(text, '.')) return true;
  int64_t unit = 100'000;
  if (!AreDigits(text.substr(0, 1))) return false;
  for (; AreDigits(text.substr(0, 1)); text.remove_prefix(1), unit /= 10) {
    if (unit == 0 && text[0] != '0') return false;  // would be cut
    *micros += (text[0] - '0') * unit;
  }
  return true;
}

// Reads "Z", "+hh:mm", "-hh:mm" or nothing.
bool ConsumeOffset(std::string_view& text, int64_t* micros) {
  if (text.empty() || Consume(text, 'Z')) return true;
  const bool is_east = text[0] == '+';
  if (!is_east && text[0] != '-') return false;
  text.remove_prefix(1);
  int64_t hour = 0;
  int64_t minute = 0;
  if (!ConsumeDigits(text, 2, &hour) || !Consume(text, ':') || !ConsumeDigits(text, 2, &minute) ||
      hour > 23 || minute > 59)
    return false;
  *micros -= (is_east ? 1 : -1) * (hour * 60 + minute) * 60'000'000;
  return true;
}

bool IsRecent(int64_t micros) { return micros >= kMicrosOf2000 && micros < kMicrosOf2101; }

std::string TimeKind(std::string_view prefix, std::string_view unit, int64_t micros) {
  return fmt::format("{}time in {}, {}", prefix, unit, Timestamp::FromMicros(micros).ToString());
}

// Returns the kind of a number of digits that is a time, or "".
std::string KindOfTime(std::string_view segment) {
  int64_t number = 0;
  if (!AreDigits(segment) || !ReadNumber(segment, &number)) return "";
  if (segment.size() == 10 && IsRecent(number * 1'000'000))
    return TimeKind("", "s", number * 1'000'000);
  if (segment.size() == 13 && IsRecent(number * 1'000)) return TimeKind("", "ms", number * 1'000);
  if (segment.size() == 16 && IsRecent(number)) return TimeKind("", "us", number);
  if (segment.size() == 13 && IsRecent((9'999'999'999'999 - number) * 1'000))
    return TimeKind("reversed ", "ms", (9'999'999'999'999 - number) * 1'000);
  if (segment.size() == 19) {
    const int64_t rest = std::numeric_limits<int64_t>::max() - number;
    if (IsRecent(number / 1'000)) return TimeKind("", "ns", number / 1'000);
    if (IsRecent(rest)) return TimeKind("reversed ", "us", rest);
    if (rest < kMicrosOf2101 / 1'000 && IsRecent(rest * 1'000))
      return TimeKind("reversed ", "ms", rest * 1'000);
  }
  int64_t micros = 0;
  if (segment.size() != 8) return "";
  std::string_view date = segment;
  if (ConsumeDate(date, false, &micros) && segment >= "19000101" && segment < "21000101")
    return "date";
  const std::string reversed = fmt::format("{:08}", 99'999'999 - number);
  date = reversed;
  if (reversed >= "19000101" && reversed < "21000101" && ConsumeDate(date, false, &micros))
    return "reversed date, " + reversed;
  return "";
}

bool IsHostName(std::string_view segment) {
  const std::vector<std::string_view> labels = keys::Split(segment, ".");
  bool has_letter = false;
  for (const std::string_view label : labels) {
    if (label.empty()) return false;
    for (const char c : label) {
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!is_letter && c != '-' && (c < '0' || c > '9')) return false;
      has_letter = has_letter || is_letter;
    }
  }
  return labels.size() >= 2 && has_letter;
}

}  // namespace

absl::StatusOr<std::chrono::microseconds> ParseWidth(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"us", 1},         {"ms", 1'000},        {"s", 1'000'000},
      {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}};
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t number = 0;
  for (const auto& [unit, micros] : kUnits) {
    if (text.substr(digits) != unit || !ReadNumber(text.substr(0, digits), &number)) continue;
    if (number >= 1 && number <= std::numeric_limits<int64_t>::max() / micros)
      return std::chrono::microseconds(number * micros);
  }
  return internal::InvalidArgument(
      "the width \"{}\" is not a number from 1 on and a unit: d, h, m, s, ms or us",
      internal::Printable(text));
}

absl::StatusOr<Timestamp> ParseTime(std::string_view text) {
  int64_t micros = 0;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (AreDigits(digits) && ReadNumber(text, &micros)) return Timestamp::FromMicros(micros);
  std::string_view rest = text;
  bool is_time = ConsumeDate(rest, true, &micros);
  if (is_time && !rest.empty()) {
    is_time = (Consume(rest, 'T') || Consume(rest, ' ')) && ConsumeClock(rest, &micros) &&
              ConsumeOffset(rest, &micros) && rest.empty();
  }
  if (is_time) return Timestamp::FromMicros(micros);
  return internal::InvalidArgument(
      "\"{}\" is not a time as 2023-11-14T22:13:20Z, with at most microseconds, or as digits of "
      "microseconds",
      internal::Printable(text));
}

std::string KindOfSegment(std::string_view segment) {
  if (segment.empty()) return "empty";
  if (const std::string time = KindOfTime(segment); !time.empty()) return time;
  if (AreDigits(segment)) return fmt::format("digits, {}", segment.size());
  if (segment.size() >= 10 && ParseTime(segment).ok())
    return "time as text, " + ParseTime(segment)->ToString();
  if (IsHostName(segment)) return "host name";
  const bool is_hex = std::all_of(segment.begin(), segment.end(), absl::ascii_isxdigit);
  if (is_hex && segment.size() >= 8) return fmt::format("hex, {} digits", segment.size());
  return IsUtf8(segment) ? "text" : "bytes";
}

}  // namespace stele::cli
