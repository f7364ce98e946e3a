#include "lab/values/time_text.h"

#include <charconv>
#include <chrono>

namespace stele::internal::lab {
namespace {

constexpr int64_t kMicrosInSecond = 1'000'000;

// Removes `width` digits from the front of `text`.
std::optional<int> ConsumeDigits(std::string_view& text, size_t width) {
  if (text.size() < width) return std::nullopt;
  int number = 0;
  for (size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(width);
  return number;
}

bool ConsumeCharacter(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

// Two numbers of two digits with a colon between them, as minutes.
std::optional<int> ConsumeHoursAndMinutes(std::string_view& text, int hours_max) {
  const auto hours = ConsumeDigits(text, 2);
  if (!hours || !ConsumeCharacter(text, ':')) return std::nullopt;
  const auto minutes = ConsumeDigits(text, 2);
  if (!minutes || *hours > hours_max || *minutes > 59) return std::nullopt;
  return *hours * 60 + *minutes;
}

std::optional<int64_t> ConsumeFraction(std::string_view& text) {
  int64_t micros = 0;
  int64_t unit = 100'000;
  size_t count = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
    if (unit == 0 && text[count] != '0') return std::nullopt;
    micros += unit * (text[count] - '0');
    unit /= 10;
  }
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return micros;
}

std::optional<int64_t> ParseDigits(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number * (text.size() == 10 ? kMicrosInSecond : text.size() == 13 ? 1000 : 1);
}

bool HasOnlyDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The time of day and the offset: what follows the date.
std::optional<int64_t> ParseTimeOfDay(std::string_view text) {
  if (text.empty()) return 0;
  if (!ConsumeCharacter(text, 'T') && !ConsumeCharacter(text, 't') && !ConsumeCharacter(text, ' '))
    return std::nullopt;
  const auto minutes = ConsumeHoursAndMinutes(text, 23);
  if (!minutes || !ConsumeCharacter(text, ':')) return std::nullopt;
  const auto seconds = ConsumeDigits(text, 2);
  if (!seconds || *seconds > 59) return std::nullopt;
  int64_t micros = (*minutes * int64_t{60} + *seconds) * kMicrosInSecond;
  if (ConsumeCharacter(text, '.')) {
    const auto fraction = ConsumeFraction(text);
    if (!fraction) return std::nullopt;
    micros += *fraction;
  }
  if (text.empty() || text == "Z" || text == "z") return micros;
  const bool is_west = text.starts_with('-');
  if (!is_west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto offset = ConsumeHoursAndMinutes(text, 23);
  if (!offset || !text.empty()) return std::nullopt;
  return micros + (is_west ? 1 : -1) * *offset * int64_t{60} * kMicrosInSecond;
}

}  // namespace

std::optional<int64_t> ParseTimeOfAnyYear(std::string_view text) {
  if (HasOnlyDigits(text)) {
    if (text.size() != 10 && text.size() != 13 && text.size() != 16) return std::nullopt;
    return ParseDigits(text);
  }
  const auto year = ConsumeDigits(text, 4);
  if (!year || !ConsumeCharacter(text, '-')) return std::nullopt;
  const auto month = ConsumeDigits(text, 2);
  if (!month || !ConsumeCharacter(text, '-')) return std::nullopt;
  const auto day = ConsumeDigits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto time_of_day = ParseTimeOfDay(text);
  if (!date.ok() || !time_of_day) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86'400 * kMicrosInSecond + *time_of_day;
}

std::optional<int64_t> ParseTime(std::string_view text) {
  const std::optional<int64_t> micros = ParseTimeOfAnyYear(text);
  return micros.has_value() && *micros >= 0 ? micros : std::nullopt;
}

}  // namespace stele::internal::lab
