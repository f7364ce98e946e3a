#include "lab/kinds/personal_data.h"

#include <arpa/inet.h>

#include <algorithm>

#include "lab/kinds/value_kinds.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool IsMailAddress(std::string_view text) {
  const size_t at = text.find('@');
  if (at == 0 || at == std::string_view::npos || text.size() > kPersonalBytesMax) return false;
  const std::string_view user = text.substr(0, at);
  const std::string_view host = text.substr(at + 1);
  if (!IsHostName(host)) return false;
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return last.size() >= 2 && last.find_first_not_of(kLetters) == std::string_view::npos &&
         std::all_of(user.begin(), user.end(), [](char c) {
           return IsDigits(std::string_view(&c, 1)) || kLetters.find(c) != std::string_view::npos ||
                  std::string_view("!#$%&'*+/=?^_`{|}~.-").find(c) != std::string_view::npos;
         });
}

bool IsAddress(int family, std::string_view text) {
  unsigned char bytes[16];
  return inet_pton(family, std::string(text).c_str(), bytes) == 1;
}

bool IsIpv4(std::string_view text) {
  return text.size() >= 7 && text.size() <= 15 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos &&
         IsAddress(AF_INET, text);
}

bool IsIpv6(std::string_view text) {
  return text.size() >= 3 && text.size() <= 45 && text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
         IsAddress(AF_INET6, text);
}

bool IsPhoneNumber(std::string_view text) {
  return text.size() >= 9 && text.size() <= 16 && text[0] == '+' && IsDigits(text.substr(1));
}

bool IsSocialSecurityNumber(std::string_view text) {
  return text.size() == 11 && text[3] == '-' && text[6] == '-' && IsDigits(text.substr(0, 3)) &&
         IsDigits(text.substr(4, 2)) && IsDigits(text.substr(7));
}

bool HasIssuer(std::string_view digits) {
  const int two = (digits[0] - '0') * 10 + (digits[1] - '0');
  const int four = two * 100 + (digits[2] - '0') * 10 + (digits[3] - '0');
  return digits[0] == '4' || (two >= 51 && two <= 55) || (four >= 2221 && four <= 2720) ||
         two == 34 || two == 37 || four == 6011 || two == 65;
}

}  // namespace

const char* PersonalDataIn(std::string_view text) {
  if (text.size() < 3 || text.size() > kPersonalBytesMax) return nullptr;
  if (IsMailAddress(text)) return "an e-mail address";
  if (IsIpv4(text) || IsIpv6(text)) return "an IP address";
  if (IsPhoneNumber(text)) return "a phone number";
  if (IsSocialSecurityNumber(text)) return "a social security number";
  return nullptr;
}

bool IsCardNumber(std::string_view text) {
  if (text.size() < 13 || text.size() > 19 || !IsDigits(text) || !HasIssuer(text)) return false;
  int sum = 0;
  bool is_doubled = false;
  for (size_t i = text.size(); i-- > 0; is_doubled = !is_doubled) {
    int digit = text[i] - '0';
    if (is_doubled) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

std::string Masked(std::string_view text) {
  // A character of UTF-8 has up to three bytes 10xxxxxx after the first one.
  size_t bytes = std::min<size_t>(text.size(), 1);
  while (bytes < std::min<size_t>(text.size(), 4) &&
         (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
    ++bytes;
  return std::string(text.substr(0, bytes)) + "***";
}

}  // namespace stele::internal::lab
