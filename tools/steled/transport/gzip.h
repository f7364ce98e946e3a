// transport/gzip.h: messages that a client compressed.
//
// Errors:    as absl::Status, with the code that the client is told.
// Threads:   pure functions.
// Source:    gRPC over HTTP/2, Message-Encoding gzip.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// Puts into `message` what `compressed` is. `reserve` is asked before each part of it, with the part's bytes; if it answers
// false there is no room: Unavailable. ResourceExhausted for a message above `bytes_max`, Internal for what is no gzip.
absl::Status Unzip(std::string_view compressed, size_t bytes_max, const std::function<bool(size_t bytes)>& reserve, std::string* message);

}  // namespace stele::server
