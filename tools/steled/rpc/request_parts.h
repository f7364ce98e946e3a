// steled/rpc/request_parts.h: counts the parts of a request before it is parsed.
//
// A part is anything that parsing creates an object for: a message, a string, an element of a list,
// an unknown field. A part may have two bytes in the request and a hundred or more in memory, so a
// limit on bytes does not limit the memory of a request.
//
// Errors:    none: in malformed bytes only the parts before the error are counted, since protobuf
//            stops there, too.
// Threads:   pure functions.
// Cost:      some nanoseconds per field; packed lists and strings are not inspected.
// Source:    protobuf's encoding.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <string_view>

namespace stele::server {

// The maximum depth of nested messages that are counted and accepted. A filter of the maximum size
// is not deeper, since each of its levels is two messages with three bytes in addition to their
// contents. Parsing this depth takes less than 1 MiB of a thread's stack (measured with steled
// under `ulimit -s 1024`).
inline constexpr int kMessageDepthMax = 7'000;

size_t CountParts(std::string_view message, const google::protobuf::Descriptor& type);

}  // namespace stele::server
