// keys/printable.h: characters in UTF-8, and bytes as text for a terminal.
//
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stele::internal {

struct Rune {
  char32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// Returns the first character of `text`, which is not empty.
Rune FirstRune(std::string_view text);

// Returns whether the code point is a letter, mark, number, punctuation, symbol or the plain space.
bool IsPrintable(char32_t code);

// Returns the bytes with '\\' as "\\\\", and with \xNN for bytes that are not printable ASCII or
// part of a printable character in UTF-8. If one character is not printable, or the text has \u or
// \U, all characters outside ASCII are \xNN.
std::string EscapedBytes(std::string_view bytes);

// Returns a message for a terminal. Its quotes and backslashes stay, because it may have escapes
// already. Bytes that are not part of a printable character in UTF-8 become \xNN.
std::string EscapedMessage(std::string_view message);

}  // namespace stele::internal
