#include "row_text.h"

#include <cstdint>
#include <ctime>

#include "base/status.h"
#include "key_bytes.h"
#include "keys/hidden.h"
#include "keys/printable.h"

namespace stele::cli {
namespace {

using internal::FirstRune;
using internal::Rune;

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
    out += internal::IsPrintable(rune.code) ? std::string(bytes.substr(0, rune.bytes))
                                            : Escape(rune.code);
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

std::string JsonText(const Json& json, int indent) {
  return internal::EscapeHidden(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace stele::cli
