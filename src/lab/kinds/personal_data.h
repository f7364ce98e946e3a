// kinds/personal_data.h: recognizes personal data in keys and column names.
//
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stele::internal::lab {

inline constexpr size_t kPersonalBytesMax = 254;  // a longer text is no personal data

// Returns what the text is, or nullptr: an e-mail address, an IPv4 or IPv6 address, '+' and 8 to 15
// digits (a phone number), or ddd-dd-dddd (a social security number).
const char* PersonalDataIn(std::string_view text);

// 13 to 19 digits with the prefix of a card issuer and a correct Luhn digit.
bool IsCardNumber(std::string_view text);

// The first character and ***.
std::string Masked(std::string_view text);

}  // namespace stele::internal::lab
