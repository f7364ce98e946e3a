// steled/services/row_errors.h: rewords the library's errors about a row as Bigtable does.
//
// Errors:    the code stays; the message is Bigtable's where clients depend on it.
// Threads:   pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// Returns the error with Bigtable's message if it is an unknown family, a family of another type or
// a deleted table; otherwise `status`. `row_key` is "" if no single row is concerned.
absl::Status WithBigtableText(const absl::Status& status, std::string_view row_key,
                              std::string_view wire_table_name);

}  // namespace stele::server
