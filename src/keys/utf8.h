// keys/utf8.h: finds the first byte that is not UTF-8.
//
// Threads:   a pure function.
// Source:    RFC 3629: no surrogates, nothing above U+10FFFF, no overlong form.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace stele::internal {

// Returns the offset of the first byte that does not belong to a character in UTF-8.
std::optional<size_t> FirstNotUtf8(std::string_view bytes);

}  // namespace stele::internal
