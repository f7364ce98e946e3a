#include "lab/values/base64.h"

#include <array>
#include <cstdint>

namespace stele::internal::lab {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> Base64Values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kBase64Digits.size(); ++i)
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<int8_t>(i);
  return values;
}

constexpr std::array<int8_t, 256> kBase64Values = Base64Values();

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    bit_count += 8;
    while (bit_count >= 6) {
      bit_count -= 6;
      out->push_back(kBase64Digits[(bits >> bit_count) & 63]);
    }
  }
  if (bit_count > 0) out->push_back(kBase64Digits[(bits << (6 - bit_count)) & 63]);
  while (bytes.size() % 3 != 0 && bit_count > 0) {
    out->push_back('=');
    bit_count = (bit_count == 2) ? 4 : 0;  // one byte left: two '='; two bytes left: one
  }
}

bool AppendDecodedBase64(std::string_view text, std::string* out) {
  if (text.size() % 4 != 0) return false;
  const size_t size_before = out->size();
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char digit : text.substr(0, text.size() - padding)) {
    const int8_t value = kBase64Values[static_cast<unsigned char>(digit)];
    if (value < 0) {
      out->resize(size_before);
      return false;
    }
    bits = ((bits << 6) | static_cast<uint32_t>(value)) & 0xffffff;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      out->push_back(static_cast<char>((bits >> bit_count) & 0xff));
    }
  }
  if ((bits & ((1U << bit_count) - 1)) == 0) return true;
  out->resize(size_before);
  return false;
}

}  // namespace stele::internal::lab
