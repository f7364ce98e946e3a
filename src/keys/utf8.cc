#include "keys/utf8.h"

#include <cstdint>

namespace stele::internal {
namespace {

// Returns the number of bytes of a character with this first byte, or 0 if there is none.
size_t CharacterBytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

// Returns whether the second byte is allowed after the first one. It excludes overlong forms,
// surrogates and numbers above U+10FFFF.
bool IsSecond(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second <= 0xbf;
    case 0xed:
      return second >= 0x80 && second <= 0x9f;
    case 0xf0:
      return second >= 0x90 && second <= 0xbf;
    case 0xf4:
      return second >= 0x80 && second <= 0x8f;
    default:
      return second >= 0x80 && second <= 0xbf;
  }
}

}  // namespace

std::optional<size_t> FirstNotUtf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const size_t length = CharacterBytes(first);
    if (length == 0 || length > bytes.size() - i) return i;
    if (length > 1 && !IsSecond(first, static_cast<unsigned char>(bytes[i + 1]))) return i;
    for (size_t k = 2; k < length; ++k) {
      if ((static_cast<unsigned char>(bytes[i + k]) & 0xc0) != 0x80) return i;
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace stele::internal
