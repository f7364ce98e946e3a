// steled/status.h: the library's statuses as clients get them.
//
// Errors:    the code stays, for gRPC's codes are Abseil's; a text that Bigtable words otherwise becomes Bigtable's.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// The text of an error, cut and in printable ASCII: it may quote row keys, which are any bytes, and goes into messages that hold text
// alone, and into a header.
std::string ReadableText(const absl::Status& status);

// `status` with its text so.
absl::Status Readable(const absl::Status& status);

// Of a change of one row: what Bigtable puts before its reasons.
absl::Status OfRow(const absl::Status& status, std::string_view row_key, std::string_view wire_table_name);

}  // namespace stele::server
