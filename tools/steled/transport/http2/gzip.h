// steled/transport/http2/gzip.h: decompresses messages.
//
// Errors:    as absl::Status, with the code that the client gets.
// Threads:   pure functions.
// Source:    gRPC over HTTP/2, Message-Encoding gzip.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// Decompresses `compressed` into `message`. `reserve` is called before each part, with its size; if
// it returns false, there is no memory: Unavailable. Returns ResourceExhausted for a message above
// `bytes_max`, Internal for invalid gzip.
absl::Status Unzip(std::string_view compressed, size_t bytes_max,
                   const std::function<bool(size_t bytes)>& reserve, std::string* message);

}  // namespace stele::server
