// steled/status.h: the library's statuses as gRPC sends them.
//
// Errors:    the code stays; a text that Bigtable words otherwise becomes Bigtable's.
// Threads:   pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

grpc::Status ToGrpc(const absl::Status& status);

// Of a change of one row: what Bigtable puts before its reasons.
absl::Status OfRow(const absl::Status& status, std::string_view row_key, std::string_view wire_table_name);

}  // namespace stele::server
