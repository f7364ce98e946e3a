// tools/stele/key_bytes.h: converts row keys and qualifiers to text and back. The text contains no
// control characters, so stored data cannot control the reader's terminal.
//
// Errors:    InvalidArgument with the wrong text.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::cli {

// Returns the bytes with '\\' as "\\\\", and with \xNN for bytes that are not printable ASCII or
// part of a printable character in UTF-8.
std::string EscapedKey(std::string_view bytes);
// The inverse of EscapedKey: reads \xNN and "\\\\". Any other backslash is an error.
absl::StatusOr<std::string> UnescapedKey(std::string_view text);

std::string HexText(std::string_view bytes);
absl::StatusOr<std::string> BytesOfHex(std::string_view hex);

}  // namespace stele::cli
