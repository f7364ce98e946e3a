#include "key_bytes.h"

#include <charconv>

#include "base/status.h"
#include "keys/printable.h"

namespace stele::cli {
namespace {

// Returns the byte that the first two characters state as hex digits, or -1.
int HexByte(std::string_view digits) {
  int byte = 0;
  const std::string_view two = digits.substr(0, 2);
  const auto [end, error] = std::from_chars(two.data(), two.data() + two.size(), byte, 16);
  return two.size() == 2 && two[0] != '-' && error == std::errc() && end == two.data() + 2 ? byte
                                                                                           : -1;
}

}  // namespace

std::string EscapedKey(std::string_view bytes) { return internal::EscapedBytes(bytes); }

absl::StatusOr<std::string> UnescapedKey(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (rest.starts_with("\\\\")) {
      bytes += '\\';
      ++i;
    } else if (rest.starts_with("\\x") && HexByte(rest.substr(2)) >= 0) {
      bytes += static_cast<char>(HexByte(rest.substr(2)));
      i += 3;
    } else {
      return internal::InvalidArgument(
          "\"{}\", byte {}: write a byte as \\xNN and a backslash as \\\\",
          internal::Printable(text), i);
    }
  }
  return bytes;
}

std::string HexText(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

absl::StatusOr<std::string> BytesOfHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int byte = HexByte(hex.substr(i));
    if (byte < 0) {
      return internal::InvalidArgument("\"{}\", byte {}: two hex digits are expected",
                                       internal::Printable(hex), i);
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace stele::cli
