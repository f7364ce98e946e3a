// steled/rpc/status.h: converts the messages of statuses to a form for headers and text fields.
//
// Errors:    the code stays, since gRPC's codes are Abseil's.
// Threads:   pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace stele::server {

// Returns the message of an error, cut and in printable ASCII. Messages may quote row keys, which
// contain any bytes.
std::string ReadableText(const absl::Status& status);

// Returns `status` with its message in that form.
absl::Status Readable(const absl::Status& status);

}  // namespace stele::server
