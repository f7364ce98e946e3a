// steled/rpc/status.h: makes the messages of statuses fit for a header and a text field.
//
// Errors:    the code stays, since gRPC's codes are Abseil's.
// Threads:   pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace stele::server {

// Returns the message of an error, cut and in printable ASCII. It may quote row keys, which are any
// bytes, and is used in text fields and in a header.
std::string ReadableText(const absl::Status& status);

// Returns `status` with its message in that form.
absl::Status Readable(const absl::Status& status);

}  // namespace stele::server
