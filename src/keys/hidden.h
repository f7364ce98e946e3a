// keys/hidden.h: hidden characters, and their escapes in JSON. They are not visible, or change the
// direction of text.
//
// Threads:   pure functions.
#pragma once

#include <string>

namespace stele::internal {

bool IsHidden(char32_t code);

// Appends \uXXXX, or a surrogate pair for a character beyond U+FFFF.
void AppendJsonEscape(char32_t code, std::string* out);

// Returns JSON text with escapes for the hidden characters of its strings. Its values stay the
// same.
std::string EscapeHidden(std::string json);

}  // namespace stele::internal
