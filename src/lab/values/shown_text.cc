#include "lab/values/shown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "keys/hidden.h"
#include "keys/utf8.h"

namespace stele::internal::lab {
namespace {

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
    character.is_shown = !IsHidden(character.code);
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
  out->push_back('"');
  while (!text.empty()) {
    const Character character = ConsumeCharacter(&text);
    if (character.code == '"' || character.code == '\\') {
      out->push_back('\\');
      out->append(character.bytes);
    } else if (character.is_shown || (character.code >= 0x10000 && !has_surrogates)) {
      out->append(character.bytes);
    } else {
      AppendJsonEscape(character.code, out);
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
