#include "model/text.h"

#include <fmt/format.h>

#include <charconv>

#include "base/status.h"

namespace stele::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::string Quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c >= 0x20 && c < 0x7f) {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out.push_back('"');
  return out;
}

void TextScanner::SkipSpace() {
  while (offset_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[offset_]) != std::string_view::npos)
    ++offset_;
}

template <typename Predicate>
std::string_view TextScanner::TakeWhile(Predicate predicate) {
  SkipSpace();
  const size_t start = offset_;
  while (offset_ < text_.size() && predicate(text_[offset_])) ++offset_;
  return text_.substr(start, offset_ - start);
}

bool TextScanner::AtEnd() {
  SkipSpace();
  return offset_ == text_.size();
}

bool TextScanner::NextIs(char c) { return !AtEnd() && text_[offset_] == c; }

bool TextScanner::Accept(std::string_view token) {
  SkipSpace();
  if (text_.substr(offset_, token.size()) != token) return false;
  offset_ += token.size();
  return true;
}

absl::Status TextScanner::Expect(std::string_view token) {
  if (Accept(token)) return absl::OkStatus();
  return Error(fmt::format("expected '{}'", token));
}

std::string_view TextScanner::Word() {
  return TakeWhile([](char c) { return IsLower(c) || c == '_'; });
}

std::string_view TextScanner::Number() {
  return TakeWhile(
      [](char c) { return IsDigit(c) || IsLower(c) || c == '-' || c == '+' || c == '.'; });
}

absl::StatusOr<int64_t> TextScanner::Int64() {
  const std::string_view digits = TakeWhile([](char c) { return IsDigit(c) || c == '-'; });
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Error("expected a whole number of at most 64 bits");
  return value;
}

absl::Status TextScanner::ReadEscape(std::string* out) {
  if (offset_ == text_.size()) return Error("a string without its closing '\"'");
  const char escaped = text_[offset_++];
  constexpr std::string_view kNames = "\"\\nrt0";
  constexpr std::string_view kMeanings("\"\\\n\r\t\0", 6);
  if (const size_t index = kNames.find(escaped); index != std::string_view::npos) {
    out->push_back(kMeanings[index]);
    return absl::OkStatus();
  }
  const std::string_view digits = text_.substr(offset_, 2);
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (escaped != 'x' || digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
    return Error("unknown escape; use \\\" \\\\ \\n \\r \\t \\0 or \\xNN");
  }
  offset_ += 2;
  out->push_back(static_cast<char>(value));
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextScanner::QuotedString() {
  STELE_RETURN_IF_ERROR(Expect("\""));
  std::string out;
  while (offset_ < text_.size()) {
    const char c = text_[offset_++];
    if (c == '"') return out;
    if (c == '\\') {
      STELE_RETURN_IF_ERROR(ReadEscape(&out));
    } else {
      out.push_back(c);
    }
  }
  return Error("a string without its closing '\"'");
}

absl::Status TextScanner::Error(std::string_view problem) const {
  return ErrorFrom(offset_, problem);
}

absl::Status TextScanner::ErrorAt(std::string_view token, std::string_view problem) const {
  return ErrorFrom(static_cast<size_t>(token.data() - text_.data()), problem);
}

absl::Status TextScanner::ErrorFrom(size_t offset, std::string_view problem) const {
  const std::string_view rest = text_.substr(offset);
  return InvalidArgument(
      "{}: at position {}{}: {}", what_, offset,
      rest.empty() ? " (the end)" : fmt::format(" (\"{}\")", Printable(rest, 20)), problem);
}

}  // namespace stele::internal
