#include <algorithm>
#include <limits>

#include "base/status.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

constexpr int kWidthMax = 4096;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status CheckDigits(std::string_view digits) {
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit))
    return absl::OkStatus();
  return internal::InvalidArgument("\"{}\" is not a number of decimal digits",
                                   internal::Printable(digits));
}

absl::StatusOr<std::string> Reversed19(int64_t number) {
  if (number < 0) {
    return internal::InvalidArgument("{} is not a number from 0 to {}", number, kInt64Max);
  }
  return fmt::format("{:019}", kInt64Max - number);
}

// The number of microseconds in a unit.
int64_t MicrosOf(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 1'000'000;
    case TimeUnit::kMillis:
      return 1'000;
    case TimeUnit::kMicros:
      break;
  }
  return 1;
}

int DigitsAt(std::string_view text, size_t offset, size_t count) {
  int number = 0;
  for (const char c : text.substr(offset, count)) number = number * 10 + (c - '0');
  return number;
}

}  // namespace

absl::StatusOr<std::string> Pad(std::string_view digits, int width) {
  if (width < 1 || width > kWidthMax)
    return internal::InvalidArgument("the width {} is not from 1 to {}", width, kWidthMax);
  STELE_RETURN_IF_ERROR(CheckDigits(digits));
  const size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string_view significant = digits.substr(first);
  const auto wanted = static_cast<size_t>(width);
  if (significant.size() > wanted) {
    return internal::InvalidArgument("{} has {} digits and does not fit into {}: use a wider key",
                                     internal::Printable(digits), significant.size(), width);
  }
  return std::string(wanted - significant.size(), '0').append(significant);
}

absl::StatusOr<std::string> Pad(uint64_t number, int width) {
  return Pad(std::to_string(number), width);
}

absl::StatusOr<std::string> ReverseTimestamp(Timestamp time) { return Reversed19(time.micros()); }

absl::StatusOr<std::string> ReverseMillis(int64_t millis) { return Reversed19(millis); }

absl::StatusOr<std::string> ReverseDate(std::chrono::year_month_day date) {
  const int year = static_cast<int>(date.year());
  if (!date.ok() || year < 0 || year > 9999) {
    return internal::InvalidArgument("year {}, month {}, day {} is not a date from 0000 to 9999",
                                     year, static_cast<unsigned>(date.month()),
                                     static_cast<unsigned>(date.day()));
  }
  const int number = year * 10'000 + static_cast<int>(static_cast<unsigned>(date.month())) * 100 +
                     static_cast<int>(static_cast<unsigned>(date.day()));
  return fmt::format("{:08}", 99'999'999 - number);
}

absl::StatusOr<std::string> ReverseDate(std::string_view date) {
  std::string digits(date);
  if (digits.size() == 10 && digits[4] == '-' && digits[7] == '-') digits.erase(7, 1).erase(4, 1);
  if (digits.size() != 8 || !CheckDigits(digits).ok()) {
    return internal::InvalidArgument("\"{}\" is not a date as yyyymmdd or yyyy-mm-dd",
                                     internal::Printable(date));
  }
  const std::chrono::year_month_day day{
      std::chrono::year(DigitsAt(digits, 0, 4)),
      std::chrono::month(static_cast<unsigned>(DigitsAt(digits, 4, 2))),
      std::chrono::day(static_cast<unsigned>(DigitsAt(digits, 6, 2)))};
  if (!day.ok()) return internal::InvalidArgument("the date {} does not exist", date);
  return ReverseDate(day);
}

absl::StatusOr<std::string> ReverseDigits(std::string_view digits, int width) {
  STELE_RETURN_IF_ERROR(CheckDigits(digits));
  std::string reversed(digits);
  if (width != 0) {
    STELE_ASSIGN_OR_RETURN(reversed, Pad(digits, width));
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

absl::StatusOr<int64_t> BucketTime(int64_t time, std::chrono::microseconds width, TimeUnit unit) {
  const int64_t unit_micros = MicrosOf(unit);
  if (width.count() < 1 || width.count() % unit_micros != 0) {
    return internal::InvalidArgument("a width of {} us is not a whole number of units of {} us",
                                     width.count(), unit_micros);
  }
  const int64_t step = width.count() / unit_micros;
  const int64_t rest = time % step < 0 ? time % step + step : time % step;
  if (time < std::numeric_limits<int64_t>::min() + rest)
    return internal::InvalidArgument("{} rounded down to a multiple of {} is no int64", time, step);
  return time - rest;
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
