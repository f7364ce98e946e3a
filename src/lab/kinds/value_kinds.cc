#include "lab/kinds/value_kinds.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>

#include "lab/values/time_text.h"

namespace stele::internal::lab {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// 2000-01-01 and 2101-01-01 in seconds: times of the years 2000 to 2100.
constexpr int64_t kFirstSecond = 946'684'800;
constexpr int64_t kEndSecond = 4'133'980'800;

bool IsRecent(int64_t time, int64_t units_per_second) {
  return time / units_per_second >= kFirstSecond && time / units_per_second < kEndSecond;
}

// At most 19 digits. Nothing if they exceed an int64.
std::optional<int64_t> NumberOf(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// A date with a time of day of 0, 4 or 6 digits after it.
bool IsCalendarTime(std::string_view digits) {
  const int64_t date = NumberOf(digits.substr(0, 8)).value_or(0);
  const auto year = static_cast<int>(date / 10'000);
  const std::chrono::year_month_day day{std::chrono::year(year),
                                        std::chrono::month(static_cast<unsigned>(date / 100 % 100)),
                                        std::chrono::day(static_cast<unsigned>(date % 100))};
  if (year < 1900 || year > 2099 || !day.ok()) return false;
  constexpr int kMaxima[] = {23, 59, 59};
  for (size_t at = 8, i = 0; at < digits.size(); at += 2, ++i) {
    if (NumberOf(digits.substr(at, 2)).value_or(99) > kMaxima[i]) return false;
  }
  return true;
}

bool IsTimeInDigits(std::string_view digits) {
  const auto number = digits.size() <= 19 ? NumberOf(digits) : std::nullopt;
  if (!number.has_value()) return false;
  switch (digits.size()) {
    case 10:
      return IsRecent(*number, 1);
    case 13:
      return IsRecent(*number, 1'000);
    case 16:
      return IsRecent(*number, 1'000'000);
    case 19:
      return IsRecent(*number, 1'000'000'000);
    case 8:
    case 12:
    case 14:
      return IsCalendarTime(digits);
    default:
      return false;
  }
}

// yyyy-mm-dd, and what ParseTime() accepts after it. A time of day may lack its seconds.
bool IsIsoTime(std::string_view text) {
  if (text.size() < 10 || text.size() > 40 || text[4] != '-' || text[7] != '-') return false;
  if (ParseTime(text).has_value()) return true;
  char date[] = "00000000";
  size_t used = 0;
  for (const size_t at : {0, 1, 2, 3, 5, 6, 8, 9}) {
    if (!IsDigit(text[at])) return false;
    date[used++] = text[at];
  }
  if (!IsCalendarTime(date)) return false;
  if (text.size() == 10) return true;
  if (text.size() != 16 || (text[10] != 'T' && text[10] != ' ') || text[13] != ':') return false;
  return NumberOf(text.substr(11, 2)).value_or(99) < 24 &&
         NumberOf(text.substr(14, 2)).value_or(99) < 60;
}

}  // namespace

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsTime(std::string_view text) {
  return IsDigits(text) ? IsTimeInDigits(text) : IsIsoTime(text);
}

bool IsReversedTime(std::string_view text) {
  if (!IsDigits(text) || text.size() > 19) return false;
  const auto number = NumberOf(text);
  if (!number.has_value()) return false;
  if (text.size() == 19) {
    const int64_t time = std::numeric_limits<int64_t>::max() - *number;
    return IsRecent(time, 1'000) || IsRecent(time, 1'000'000);
  }
  if (text.size() == 13) return IsRecent(9'999'999'999'999 - *number, 1'000);
  if (text.size() != 8 || IsCalendarTime(text)) return false;
  char date[] = "00000000";
  for (size_t i = 0; i < 8; ++i) date[i] = static_cast<char>('9' - (text[i] - '0'));
  return IsCalendarTime(date);
}

bool IsHostName(std::string_view text) {
  if (text.size() > 253) return false;
  size_t label_bytes = 0;
  size_t label_count = 1;
  for (const char c : text) {
    if (c == '.') {
      if (label_bytes == 0) return false;
      label_bytes = 0;
      ++label_count;
    } else if (IsLetter(c) || IsDigit(c) || c == '-' || c == '_') {
      if (++label_bytes > 63) return false;
    } else {
      return false;
    }
  }
  return label_bytes > 0 && label_count >= 2;
}

HashForm HashFormOf(std::string_view text) {
  if (text.size() >= 8 && std::all_of(text.begin(), text.end(), IsHexDigit)) return HashForm::kHex;
  if (text.size() != 36) return HashForm::kNone;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : !IsHexDigit(text[i])) return HashForm::kNone;
  }
  return HashForm::kUuid;
}

bool IsBase64Text(std::string_view text) {
  if (text.size() < 16) return false;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '+' || c == '/' || c == '-' || c == '_';
  });
}

}  // namespace stele::internal::lab
