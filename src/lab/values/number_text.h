// values/number_text.h: numbers as text for people.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stele::internal::lab {

// 1234567 becomes "1,234,567".
std::string WithCommas(uint64_t number);
// "1 row", "2 rows".
std::string Counted(uint64_t number, std::string_view noun);
// A share as "97.5 %".
std::string Percent(double share);
// A number with at most four decimals.
std::string ShownNumber(double number);
// A measured number for a message: three digits, and all digits before the point. 49.8359 becomes
// "49.8", and 1234.5 "1,235".
std::string RoundedNumber(double number);

}  // namespace stele::internal::lab
