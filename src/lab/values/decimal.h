// values/decimal.h: DynamoDB's numbers: decimals of up to 38 significant digits.
//
// Errors:    InvalidArgument that shows the text.
// Threads:   pure functions and plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::internal::lab {

// The number d.ddd * 10^exponent. Its digits have no zeros at either end.
struct Decimal {
  static constexpr int kDigitsMax = 38;

  bool is_negative = false;
  uint8_t digit_count = 0;  // 0: the number zero
  int16_t exponent = 0;
  std::array<char, kDigitsMax> digits = {};  // '0' to '9'

  std::string_view text() const { return {digits.data(), digit_count}; }
  friend std::strong_ordering operator<=>(const Decimal& left, const Decimal& right);
  friend bool operator==(const Decimal& left, const Decimal& right) {
    return (left <=> right) == 0;
  }
};

// Parses a JSON number of at most 38 significant digits, zero or with a magnitude from 1E-130 to
// 9.99...E+125. Zeros at the end of the digits are not significant.
absl::StatusOr<Decimal> ParseDecimal(std::string_view text);
// Returns plain digits for exponents from -20 to 37, and d.dddE+n otherwise.
std::string DecimalText(const Decimal& number);
// Returns the number if it is a whole number of 64 bits.
std::optional<int64_t> ToInt64(const Decimal& number);

// The sortable form: bytewise order is numeric order.
//   zero      0
//   positive  1, the exponent + 500 in three digits, the digits
//   negative  -, 999 - (the exponent + 500), each digit d as 9-d, ':'
std::string SortableDecimal(const Decimal& number);
// Accepts only what SortableDecimal returns.
absl::StatusOr<Decimal> ParseSortableDecimal(std::string_view text);

}  // namespace stele::internal::lab
