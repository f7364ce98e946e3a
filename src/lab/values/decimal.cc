#include "lab/values/decimal.h"

#include <algorithm>
#include <limits>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr int kExponentMin = -130;
constexpr int kExponentMax = 125;
constexpr int kPlainExponentMin = -20;
constexpr int kPlainExponentMax = 37;
constexpr int kSortableBias = 500;

absl::Status NotANumber(std::string_view text) {
  return internal::InvalidArgument("\"{}\" is not a number", internal::Printable(text));
}

bool IsDecimalDigit(char c) { return c >= '0' && c <= '9'; }

size_t SkipDigits(std::string_view text, size_t from) {
  while (from < text.size() && IsDecimalDigit(text[from])) ++from;
  return from;
}

// The parts of a JSON number.
struct NumberParts {
  bool is_negative = false;
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;
};

std::optional<NumberParts> SplitNumber(std::string_view text) {
  NumberParts parts;
  parts.is_negative = text.starts_with('-');
  size_t at = parts.is_negative ? 1 : 0;
  size_t end = SkipDigits(text, at);
  parts.whole = text.substr(at, end - at);
  if (parts.whole.empty() || (parts.whole.size() > 1 && parts.whole[0] == '0')) return std::nullopt;
  at = end;
  if (at < text.size() && text[at] == '.') {
    end = SkipDigits(text, at + 1);
    parts.fraction = text.substr(at + 1, end - at - 1);
    if (parts.fraction.empty()) return std::nullopt;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool is_minus = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    end = SkipDigits(text, at);
    if (end == at) return std::nullopt;
    // A larger exponent is out of range with every number of digits that fits into an item.
    for (; at < end; ++at)
      parts.exponent = std::min<int64_t>(parts.exponent * 10 + (text[at] - '0'), 1'000'000'000);
    if (is_minus) parts.exponent = -parts.exponent;
  }
  if (at != text.size()) return std::nullopt;
  return parts;
}

}  // namespace

std::strong_ordering operator<=>(const Decimal& left, const Decimal& right) {
  const auto sign = [](const Decimal& number) {
    return number.digit_count == 0 ? 0 : (number.is_negative ? -1 : 1);
  };
  if (sign(left) != sign(right)) return sign(left) <=> sign(right);
  auto order = left.exponent <=> right.exponent;
  if (order == 0) order = left.text().compare(right.text()) <=> 0;
  return sign(left) < 0 ? 0 <=> order : order;
}

absl::StatusOr<Decimal> ParseDecimal(std::string_view text) {
  const std::optional<NumberParts> parts = SplitNumber(text);
  if (!parts.has_value()) return NotANumber(text);
  const auto digit = [&](size_t i) {
    return i < parts->whole.size() ? parts->whole[i] : parts->fraction[i - parts->whole.size()];
  };
  size_t begin = 0;
  size_t end = parts->whole.size() + parts->fraction.size();
  while (begin < end && digit(begin) == '0') ++begin;
  while (end > begin && digit(end - 1) == '0') --end;
  Decimal number;
  if (begin == end) return number;
  if (end - begin > Decimal::kDigitsMax) {
    return internal::InvalidArgument("the number {} has {} significant digits, at most {}",
                                     internal::Printable(text), end - begin, Decimal::kDigitsMax);
  }
  const int64_t exponent =
      static_cast<int64_t>(parts->whole.size()) - 1 - static_cast<int64_t>(begin) + parts->exponent;
  if (exponent < kExponentMin || exponent > kExponentMax) {
    return internal::InvalidArgument("the number {} has a magnitude outside 1E-130 to 9.99...E+125",
                                     internal::Printable(text));
  }
  number.is_negative = parts->is_negative;
  number.digit_count = static_cast<uint8_t>(end - begin);
  number.exponent = static_cast<int16_t>(exponent);
  for (size_t i = begin; i < end; ++i) number.digits[i - begin] = digit(i);
  return number;
}

std::string DecimalText(const Decimal& number) {
  if (number.digit_count == 0) return "0";
  const std::string_view digits = number.text();
  const int exponent = number.exponent;
  std::string text = number.is_negative ? "-" : "";
  if (exponent < kPlainExponentMin || exponent > kPlainExponentMax) {
    text += digits[0];
    if (digits.size() > 1) text.append(".").append(digits.substr(1));
    return text + fmt::format("E{:+}", exponent);
  }
  if (exponent < 0) {
    return text.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return text.append(digits).append(whole - digits.size(), '0');
  return text.append(digits.substr(0, whole)).append(".").append(digits.substr(whole));
}

std::optional<int64_t> ToInt64(const Decimal& number) {
  if (number.digit_count == 0) return 0;
  if (number.exponent < number.digit_count - 1 || number.exponent > 18) return std::nullopt;
  __int128 value = 0;
  for (int i = 0; i <= number.exponent; ++i)
    value = value * 10 + (i < number.digit_count ? number.digits[static_cast<size_t>(i)] - '0' : 0);
  if (number.is_negative) value = -value;
  if (value < std::numeric_limits<int64_t>::min() || value > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string SortableDecimal(const Decimal& number) {
  if (number.digit_count == 0) return "0";
  const int biased = number.exponent + kSortableBias;
  if (!number.is_negative) return fmt::format("1{:03}{}", biased, number.text());
  std::string text = fmt::format("-{:03}", 999 - biased);
  for (const char digit : number.text()) text += static_cast<char>('0' + ('9' - digit));
  return text + ':';
}

absl::StatusOr<Decimal> ParseSortableDecimal(std::string_view text) {
  Decimal number;
  if (text == "0") return number;
  number.is_negative = text.starts_with('-');
  const size_t end = text.size() - (number.is_negative ? 1 : 0);
  const bool has_form = text.size() > 4 && (number.is_negative ? text.ends_with(':') && end > 4
                                                               : text.starts_with('1'));
  if (!has_form || SkipDigits(text, 1) != end || end - 4 > Decimal::kDigitsMax)
    return internal::InvalidArgument("\"{}\" is not a sortable decimal", internal::Printable(text));
  int biased = (text[1] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
  if (number.is_negative) biased = 999 - biased;
  number.exponent = static_cast<int16_t>(biased - kSortableBias);
  number.digit_count = static_cast<uint8_t>(end - 4);
  for (size_t i = 4; i < end; ++i) {
    number.digits[i - 4] = number.is_negative ? static_cast<char>('0' + ('9' - text[i])) : text[i];
  }
  if (number.exponent < kExponentMin || number.exponent > kExponentMax || number.digits[0] == '0' ||
      number.digits[number.digit_count - 1u] == '0') {
    return internal::InvalidArgument("\"{}\" is not a sortable decimal", internal::Printable(text));
  }
  return number;
}

}  // namespace stele::internal::lab
