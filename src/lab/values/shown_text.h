// values/shown_text.h: bytes of a row key as text that a terminal or a person may get.
//
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stele::internal::lab {

// Returns the bytes with \xNN for bytes that are not UTF-8, and for characters that are not visible
// or that change the direction of text. A backslash is two.
std::string ShownText(std::string_view bytes);
// The same, with at most `columns` columns of a terminal; "~" at the end replaces the rest.
std::string ShownText(std::string_view bytes, size_t columns);
// Appends a JSON string. The characters that ShownText() replaces are \uXXXX. `text` is UTF-8.
// YAML has no surrogate pairs, so without them characters beyond U+FFFF are not escaped.
void AppendShownJson(std::string_view text, std::string* out, bool has_surrogates = true);
// How many columns of a terminal ShownText() of these bytes needs.
size_t ShownColumns(std::string_view bytes);

}  // namespace stele::internal::lab
