#include "keys/json_scanner.h"

#include <set>

#include "base/status.h"
#include "keys/utf8.h"

namespace stele::internal {
namespace {

constexpr int kDepthMax = 20;
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";
constexpr std::string_view kEscapes = "\"\\/bfnrt";

void AppendUtf8(uint32_t code, std::string* out) {
  const auto last = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += {static_cast<char>(0xc0 | (code >> 6)), last(0)};
  } else if (code < 0x10000) {
    *out += {static_cast<char>(0xe0 | (code >> 12)), last(6), last(0)};
  } else {
    *out += {static_cast<char>(0xf0 | (code >> 18)), last(12), last(6), last(0)};
  }
}

bool IsSurrogate(uint32_t code) { return code >= 0xd800 && code < 0xe000; }

}  // namespace

void JsonScanner::SkipSpace() {
  while (offset_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[offset_]) != std::string_view::npos)
    ++offset_;
}

bool JsonScanner::Accept(char c) {
  SkipSpace();
  if (offset_ == text_.size() || text_[offset_] != c) return false;
  ++offset_;
  return true;
}

absl::Status JsonScanner::Expect(char c) {
  return Accept(c) ? absl::OkStatus() : Error(fmt::format("'{}' is expected", c));
}

absl::Status JsonScanner::Elements(char open, char close,
                                   const std::function<absl::Status()>& element) {
  STELE_RETURN_IF_ERROR(Expect(open));
  if (++depth_ > kDepthMax) return Error(fmt::format("nested more than {} deep", kDepthMax));
  bool is_first = true;
  while (!Accept(close)) {
    if (!is_first) STELE_RETURN_IF_ERROR(Expect(','));
    is_first = false;
    STELE_RETURN_IF_ERROR(element());
  }
  --depth_;
  return absl::OkStatus();
}

absl::Status JsonScanner::Object(const std::function<absl::Status(std::string_view name)>& member) {
  std::set<std::string, std::less<>> names;
  return Elements('{', '}', [&]() -> absl::Status {
    STELE_ASSIGN_OR_RETURN(const std::string name, String());
    if (!names.insert(name).second)
      return Error(fmt::format("the member \"{}\" occurs twice", Printable(name)));
    STELE_RETURN_IF_ERROR(Expect(':'));
    return member(name);
  });
}

absl::Status JsonScanner::Array(const std::function<absl::Status()>& element) {
  return Elements('[', ']', element);
}

absl::StatusOr<std::string> JsonScanner::String() {
  STELE_RETURN_IF_ERROR(Expect('"'));
  std::string bytes;
  while (offset_ < text_.size() && text_[offset_] != '"') {
    const char c = text_[offset_++];
    if (static_cast<unsigned char>(c) < 0x20) return Error("a control character in a string");
    if (c == '\\') {
      STELE_RETURN_IF_ERROR(ReadEscape(&bytes));
    } else {
      bytes += c;
    }
  }
  if (offset_ == text_.size()) return Error("the string has no end");
  ++offset_;
  if (FirstNotUtf8(bytes).has_value()) return Error("the string is not UTF-8");
  return bytes;
}

absl::Status JsonScanner::ReadEscape(std::string* out) {
  if (offset_ == text_.size()) return Error("the string has no end");
  const char c = text_[offset_++];
  if (const size_t escape = kEscapes.find(c); escape != std::string_view::npos) {
    *out += kEscaped[escape];
    return absl::OkStatus();
  }
  if (c != 'u') return Error(fmt::format("unknown escape '\\{}'", Printable({&c, 1})));
  STELE_ASSIGN_OR_RETURN(uint32_t code, HexDigits());
  if (code >= 0xd800 && code < 0xdc00 && text_.substr(offset_, 2) == "\\u") {
    offset_ += 2;
    STELE_ASSIGN_OR_RETURN(const uint32_t low, HexDigits());
    if (low < 0xdc00 || low >= 0xe000) return Error("half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (IsSurrogate(code)) return Error("half of a surrogate pair");
  AppendUtf8(code, out);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> JsonScanner::HexDigits() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = offset_ < text_.size() ? text_[offset_] : '\0';
    const size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
    if (digit == std::string_view::npos || c == '\0') return Error("four hex digits are expected");
    code = code << 4 | static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
    ++offset_;
  }
  return code;
}

absl::Status JsonScanner::ExpectEnd() {
  SkipSpace();
  return offset_ == text_.size() ? absl::OkStatus() : Error("text after the end");
}

absl::Status JsonScanner::Error(std::string_view problem) const {
  return InvalidArgument("{}, byte {}: {}", what_, offset_, problem);
}

std::string JsonString(std::string_view utf8) {
  std::string json = "\"";
  for (const char c : utf8) {
    const size_t escape = kEscaped.find(c);
    if (escape != std::string_view::npos && c != '/') {
      json += {'\\', kEscapes[escape]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

}  // namespace stele::internal
