// values/base64.h: base64 of RFC 4648 with padding.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

namespace stele::internal::lab {

// Appends the base64 text of `bytes`.
void AppendBase64(std::string_view bytes, std::string* out);
// Appends the decoded bytes. Returns false, with `out` unchanged, for wrong characters, missing
// padding, and unused bits that are not zero.
bool AppendDecodedBase64(std::string_view text, std::string* out);

}  // namespace stele::internal::lab
