// tools/stele/row_text.h: rows as text, as cbt prints them, and as JSON.
//
// Source:    cbt 1.23 read and lookup, compared byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "stele/stele.h"

namespace stele::cli {

using Json = nlohmann::ordered_json;

// In double quotes, with Go's escapes: printable Unicode as it is, the rest as \n, \x01, \u00a0.
std::string Quoted(std::string_view bytes);
// "2006/01/02-15:04:05.000000" in local time.
std::string LocalTime(Timestamp timestamp);

// The line of dashes and the row key; then a cell a time; then the empty line.
std::string RowHead(std::string_view row_key);
std::string CellText(const CellView& cell, bool with_value);

bool IsUtf8(std::string_view bytes);
std::string EncodeBase64(std::string_view bytes);
absl::StatusOr<std::string> DecodeBase64(std::string_view text);
// Sets object[key], or object[key + "_base64"] where the bytes are not UTF-8.
void SetBytes(Json& object, const std::string& key, std::string_view bytes);
Json CellJson(const CellView& cell, bool with_value);

}  // namespace stele::cli
