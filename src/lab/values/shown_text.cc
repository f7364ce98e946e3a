#include "lab/values/shown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "keys/utf8.h"

namespace stele::internal::lab {
namespace {

// Characters that are not visible, and those that change the direction of text.
constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x00a0},   {0x00ad, 0x00ad},   {0x034f, 0x034f}, {0x061c, 0x061c},
    {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},   {0x3164, 0x3164}, {0xe000, 0xf8ff},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0xfffe, 0xffff},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}};
// Characters of East Asian scripts and pictures, which need two columns.
constexpr std::pair<uint32_t, uint32_t> kWide[] = {
    {0x1100, 0x115e}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
template <size_t N>
bool IsIn(const std::pair<uint32_t, uint32_t> (&ranges)[N], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

struct Character {
  std::string_view bytes;
  uint32_t code = 0;
  bool is_shown = false;
};

// Removes the first character of text, or one byte that is not UTF-8.
Character ConsumeCharacter(std::string_view* text) {
  const auto first = static_cast<unsigned char>(text->front());
  const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  Character character = {.bytes = text->substr(0, length)};
  if (character.bytes.size() < length || FirstNotUtf8(character.bytes).has_value()) {
    character.bytes = text->substr(0, 1);
  } else {
    character.code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i)
      character.code = character.code << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3f);
    character.is_shown = !IsIn(kHidden, character.code);
  }
  text->remove_prefix(character.bytes.size());
  return character;
}

std::string TextOf(const Character& character) {
  if (character.is_shown)
    return character.code == '\\' ? std::string("\\\\") : std::string(character.bytes);
  std::string text;
  for (const char byte : character.bytes)
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text;
}

size_t ColumnsOf(const Character& character) {
  if (!character.is_shown) return 4 * character.bytes.size();
  return character.code == '\\' || IsIn(kWide, character.code) ? 2 : 1;
}

}  // namespace

std::string ShownText(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) text += TextOf(ConsumeCharacter(&bytes));
  return text;
}

void AppendShownJson(std::string_view text, std::string* out, bool has_surrogates) {
  const auto escape = [&](uint32_t unit) {
    fmt::format_to(std::back_inserter(*out), "\\u{:04x}", unit);
  };
  out->push_back('"');
  while (!text.empty()) {
    const Character character = ConsumeCharacter(&text);
    if (character.code == '"' || character.code == '\\') {
      out->push_back('\\');
      out->append(character.bytes);
    } else if (character.is_shown || (character.code >= 0x10000 && !has_surrogates)) {
      out->append(character.bytes);
    } else if (character.code < 0x10000) {
      escape(character.code);
    } else {  // a surrogate pair
      escape(0xd800 + ((character.code - 0x10000) >> 10));
      escape(0xdc00 + ((character.code - 0x10000) & 0x3ff));
    }
  }
  out->push_back('"');
}

size_t ShownColumns(std::string_view bytes) {
  size_t columns = 0;
  while (!bytes.empty()) columns += ColumnsOf(ConsumeCharacter(&bytes));
  return columns;
}

std::string ShownText(std::string_view bytes, size_t columns) {
  // A character has at most four bytes and at least one column.
  if (bytes.size() <= 4 * columns && ShownColumns(bytes) <= columns) return ShownText(bytes);
  std::string text;
  size_t used = 0;
  while (!bytes.empty()) {
    const Character character = ConsumeCharacter(&bytes);
    used += ColumnsOf(character);
    if (used + 1 > columns) break;
    text += TextOf(character);
  }
  return text + "~";
}

}  // namespace stele::internal::lab
