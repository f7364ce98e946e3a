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

}  // namespace stele::internal::lab
