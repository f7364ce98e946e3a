#include "keys/printable.h"

#include <clocale>
#include <cwctype>

#include "base/status.h"
#include "keys/utf8.h"

namespace stele::internal {

Rune FirstRune(std::string_view text) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length};
}

// The C library also counts other spaces, invisible format characters and private characters as
// printable.
bool IsPrintable(char32_t code) {
  if (code < 0x80) return code >= 0x20 && code < 0x7f;
  static const locale_t kUnicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (kUnicode == nullptr) return false;
  const bool is_format = code == 0xad || code == 0x61c || code == 0x180e ||
                         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
                         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe007f);
  const bool is_space = code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
                        code == 0x202f || code == 0x205f || code == 0x3000;
  const bool is_private = (code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000;
  return !is_format && !is_space && !is_private &&
         iswprint_l(static_cast<wint_t>(code), kUnicode) != 0;
}

std::string EscapedBytes(std::string_view bytes) {
  // A text with \u or \U looks like an escape itself.
  bool is_literal = !FirstNotUtf8(bytes).has_value() && bytes.find("\\u") == bytes.npos &&
                    bytes.find("\\U") == bytes.npos;
  for (std::string_view rest = bytes; is_literal && !rest.empty();) {
    const Rune rune = FirstRune(rest);
    is_literal = rune.code < 0x80 || IsPrintable(rune.code);
    rest.remove_prefix(rune.bytes);
  }
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      text += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_literal)) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

std::string EscapedMessage(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const Rune rune = FirstRune(message);
    const size_t bytes = rune.bytes == 0 ? 1 : rune.bytes;
    if (rune.bytes > 0 && IsPrintable(rune.code)) {
      text += message.substr(0, bytes);
    } else {
      for (const char c : message.substr(0, bytes))
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    message.remove_prefix(bytes);
  }
  return text;
}

}  // namespace stele::internal
