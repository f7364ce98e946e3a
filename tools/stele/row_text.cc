#include "row_text.h"

#include <clocale>
#include <cstdint>
#include <ctime>
#include <cwctype>

#include "base/status.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

struct Rune {
  char32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

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

// Returns whether the code point is a letter, mark, number, punctuation, symbol or the plain space.
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

std::string Escape(char32_t code) {
  switch (code) {
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    default:
      break;
  }
  const auto number = static_cast<uint32_t>(code);
  if (number < 0x80) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

size_t RuneCount(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    text.remove_prefix(rune.bytes == 0 ? 1 : rune.bytes);
    ++count;
  }
  return count;
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Quoted(std::string_view bytes) {
  std::string out = "\"";
  while (!bytes.empty()) {
    const Rune rune = FirstRune(bytes);
    if (rune.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
      continue;
    }
    if (rune.code == '"' || rune.code == '\\') out += '\\';
    out += IsPrintable(rune.code) ? std::string(bytes.substr(0, rune.bytes)) : Escape(rune.code);
    bytes.remove_prefix(rune.bytes);
  }
  return out + "\"";
}

std::string LocalTime(Timestamp timestamp) {
  int64_t seconds = timestamp.micros() / 1'000'000;
  int64_t micros = timestamp.micros() % 1'000'000;
  if (micros < 0) {
    micros += 1'000'000;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm parts = {};
  if (localtime_r(&time, &parts) == nullptr) return timestamp.ToString();
  return fmt::format("{:04}/{:02}/{:02}-{:02}:{:02}:{:02}.{:06}", int64_t{parts.tm_year} + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     micros);
}

std::string RowHead(std::string_view row_key) {
  return fmt::format("{:-<40}\n{}\n", "", EscapedKey(row_key));
}

std::string CellText(const CellView& cell, bool with_value) {
  std::string column =
      fmt::format("{}:{}", EscapedKey(cell.family()), EscapedKey(cell.qualifier()));
  const size_t width = RuneCount(column);
  if (width < 40) column.append(40 - width, ' ');
  return fmt::format("  {} @ {}\n    {}\n", column, LocalTime(cell.timestamp()),
                     Quoted(with_value ? cell.value() : std::string_view()));
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Rune rune = FirstRune(bytes);
    if (rune.bytes == 0) return false;
    bytes.remove_prefix(rune.bytes);
  }
  return true;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      out += i + j <= bytes.size() ? kBase64[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

absl::StatusOr<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return internal::InvalidArgument("base64 of {} characters: the length must be a multiple of 4",
                                     text.size());
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kBase64.find(c);
    if (digit == std::string_view::npos)
      return internal::InvalidArgument("{} is not a base64 digit", Quoted(std::string_view(&c, 1)));
    group = group << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xff);
    }
  }
  return out;
}

void SetBytes(Json& object, const std::string& key, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    object[key] = std::string(bytes);
  } else {
    object[key + "_base64"] = EncodeBase64(bytes);
  }
}

Json CellJson(const CellView& cell, bool with_value) {
  Json json;
  json["family"] = std::string(cell.family());
  SetBytes(json, "qualifier", cell.qualifier());
  json["timestamp"] = cell.timestamp().micros();
  if (with_value) SetBytes(json, "value", cell.value());
  for (const std::string& label : cell.labels()) json["labels"].push_back(label);
  return json;
}

}  // namespace stele::cli
