#include "keys/hidden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "keys/printable.h"

namespace stele::internal {
namespace {

constexpr std::pair<char32_t, char32_t> kHidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x00a0},   {0x00ad, 0x00ad},   {0x034f, 0x034f}, {0x061c, 0x061c},
    {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},   {0x3164, 0x3164}, {0xe000, 0xf8ff},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0xfffe, 0xffff},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}};

}  // namespace

bool IsHidden(char32_t code) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

void AppendJsonEscape(char32_t code, std::string* out) {
  const auto append = [&](char32_t unit) {
    fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<uint32_t>(unit));
  };
  if (code < 0x10000) return append(code);
  append(0xd800 + ((code - 0x10000) >> 10));
  append(0xdc00 + ((code - 0x10000) & 0x3ff));
}

std::string EscapeHidden(std::string json) {
  // Control characters below 0x20 are white space between values.
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
  if (std::all_of(json.begin(), json.end(), is_plain)) return json;
  std::string text;
  text.reserve(json.size());
  for (std::string_view rest = json; !rest.empty();) {
    const Rune rune = FirstRune(rest);
    const std::string_view character = rest.substr(0, std::max<size_t>(rune.bytes, 1));
    if (rune.code >= 0x7f && IsHidden(rune.code)) {
      AppendJsonEscape(rune.code, &text);
    } else {
      text += character;
    }
    rest.remove_prefix(character.size());
  }
  return text;
}

}  // namespace stele::internal
