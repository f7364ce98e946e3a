#include "lab/google/java_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

// |unscaled| as big-endian 32-bit words, most significant first, without leading zeros.
std::vector<uint32_t> WordsOf(std::string_view digits) {
  std::vector<uint32_t> words;  // least significant first
  for (const char digit : digits) {
    uint64_t carry = static_cast<uint64_t>(digit - '0');
    for (uint32_t& word : words) {
      carry += uint64_t{word} * 10;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) words.push_back(static_cast<uint32_t>(carry));
  }
  std::reverse(words.begin(), words.end());
  return words;
}

// BigDecimal's hash of the unscaled value. Java has one implementation for values below 2^63 and
// another one for the others. Both compute 31 * hash + word for each word.
uint32_t UnscaledHash(std::string_view digits, bool is_negative) {
  uint32_t hash = 0;
  for (const uint32_t word : WordsOf(digits)) hash = 31 * hash + word;
  return is_negative ? 0 - hash : hash;
}

// A BigDecimal: digits * 10^-scale.
struct Unscaled {
  bool is_negative = false;
  std::string digits;  // without leading zeros; "0" for zero
  int64_t scale = 0;
};

// Returns nullopt for a number whose scale does not fit into the 32 bits of a BigDecimal's scale.
std::optional<Unscaled> UnscaledOf(std::string_view text) {
  constexpr int64_t kExponentMax = int64_t{1} << 40;
  Unscaled number;
  number.is_negative = text.starts_with('-');
  if (number.is_negative) text.remove_prefix(1);
  const size_t exponent_at = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent_at);
  int64_t exponent = 0;
  if (exponent_at != std::string_view::npos) {
    std::string_view digits = text.substr(exponent_at + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || exponent < -kExponentMax || exponent > kExponentMax)
      return std::nullopt;
  }
  const size_t point = mantissa.find('.');
  number.digits.assign(mantissa.substr(0, point));
  if (point != std::string_view::npos) {
    const std::string_view fraction = mantissa.substr(point + 1);
    number.digits.append(fraction);
    number.scale = static_cast<int64_t>(fraction.size());
  }
  number.scale -= exponent;
  if (number.scale < INT32_MIN || number.scale > INT32_MAX) return std::nullopt;
  number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size() - 1));
  if (number.digits == "0") number.is_negative = false;  // a BigDecimal has no negative zero
  return number;
}

// BigDecimal.toString().
std::string BigDecimalText(const Unscaled& number) {
  const std::string sign = number.is_negative ? "-" : "";
  const auto digit_count = static_cast<int64_t>(number.digits.size());
  const int64_t adjusted = digit_count - 1 - number.scale;
  if (number.scale == 0) return sign + number.digits;
  if (number.scale > 0 && adjusted >= -6) {
    std::string digits = number.digits;
    if (digit_count <= number.scale)
      digits.insert(0, static_cast<size_t>(number.scale - digit_count + 1), '0');
    digits.insert(digits.size() - static_cast<size_t>(number.scale), 1, '.');
    return sign + digits;
  }
  std::string text = sign + number.digits[0];
  if (digit_count > 1) text.append(".").append(number.digits, 1);
  return adjusted == 0 ? text : text + fmt::format("E{:+}", adjusted);
}

// Calls `visit` with each UTF-16 unit.
template <typename Visit>
void ForEachUtf16(std::string_view utf8, const Visit& visit) {
  for (size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const int extra = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t code = extra == 0 ? lead : lead & (0x3fU >> extra);
    for (int k = 1; k <= extra; ++k)
      code = (code << 6) | (static_cast<unsigned char>(utf8[i + static_cast<size_t>(k)]) & 0x3fU);
    i += static_cast<size_t>(extra) + 1;
    if (code < 0x10000) {
      visit(code);
    } else {
      visit(0xd800 + ((code - 0x10000) >> 10));
      visit(0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
}

}  // namespace

std::optional<JavaNumber> ToJavaNumber(std::string_view number) {
  if (number.find('.') != std::string_view::npos) {
    const std::optional<Unscaled> unscaled = UnscaledOf(number);
    if (!unscaled.has_value()) return std::nullopt;
    return JavaNumber{.text = BigDecimalText(*unscaled),
                      .hash = 31 * UnscaledHash(unscaled->digits, unscaled->is_negative) +
                              static_cast<uint32_t>(unscaled->scale)};
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  const auto bits = static_cast<uint64_t>(value);
  return JavaNumber{.text = std::to_string(value),
                    .hash = static_cast<uint32_t>(bits ^ (bits >> 32))};
}

uint32_t JavaStringHash(std::string_view utf8) {
  uint32_t hash = 0;
  ForEachUtf16(utf8, [&](uint32_t unit) { hash = 31 * hash + unit; });
  return hash;
}

std::vector<size_t> HashMapOrder(const std::vector<uint32_t>& hashes) {
  size_t capacity = 16;
  while (hashes.size() * 4 > capacity * 3) capacity *= 2;
  std::vector<std::pair<size_t, size_t>> slots;  // slot, index
  for (size_t i = 0; i < hashes.size(); ++i)
    slots.emplace_back((hashes[i] ^ (hashes[i] >> 16)) & (capacity - 1), i);
  std::sort(slots.begin(), slots.end());
  std::vector<size_t> order;
  for (const auto& [slot, index] : slots) order.push_back(index);
  return order;
}

void AppendJavaJsonString(std::string_view utf8, std::string* out) {
  out->push_back('"');
  for (size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    const std::string_view three = utf8.substr(i, 3);
    if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      out->append(three == "\xe2\x80\xa8" ? "\\u2028" : "\\u2029");
      i += 2;
    } else if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out->push_back(c);
    } else if (const size_t at = std::string_view("\t\n\r\b\f").find(c);
               at != std::string_view::npos) {
      out->push_back('\\');
      out->push_back("tnrbf"[at]);
    } else {
      out->append(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    }
  }
  out->push_back('"');
}

}  // namespace stele::internal::lab
