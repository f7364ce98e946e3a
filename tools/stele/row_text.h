// tools/stele/row_text.h: prints rows as text in cbt's format, and as JSON.
//
// Source:    The output of read and lookup in cbt 1.23, compared byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "stele/stele.h"

namespace stele::cli {

using Json = nlohmann::ordered_json;

// Returns the bytes in double quotes with Go's escapes. Printable Unicode is literal; everything
// else is written as \n, \x01 or \u00a0.
std::string Quoted(std::string_view bytes);
// Formats as "2006/01/02-15:04:05.000000" in local time.
std::string LocalTime(Timestamp timestamp);

// The parts of a row's text: a line of dashes and the row key, then one text per cell, then an
// empty line.
std::string RowHead(std::string_view row_key);
std::string CellText(const CellView& cell, bool with_value);

bool IsUtf8(std::string_view bytes);
std::string EncodeBase64(std::string_view bytes);
absl::StatusOr<std::string> DecodeBase64(std::string_view text);
// Sets object[key], or object[key + "_base64"] if the bytes are not UTF-8.
void SetBytes(Json& object, const std::string& key, std::string_view bytes);
Json CellJson(const CellView& cell, bool with_value);
// Returns JSON for a file or a terminal. Hidden characters are \uXXXX; bytes that are not UTF-8 are
// replaced. `indent` -1: on one line.
std::string JsonText(const Json& json, int indent = -1);

}  // namespace stele::cli
