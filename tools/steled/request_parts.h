// steled/request_parts.h: of how many parts a request is made, counted before they are parsed.
//
// A part is what parsing makes something of: a message, a string, an element of a list, a field that nobody knows. In a request it may take
// two bytes, in memory a hundred and more, so that bytes alone do not bound what a request takes.
//
// Errors:    none: where the bytes are damaged the count is of what is before that, as protobuf comes no further either.
// Threads:   pure functions.
// Cost:      some nanoseconds a field; lists and texts are not looked into.
// Source:    protobuf's encoding.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <string_view>

namespace stele::server {

// Of messages inside of each other as many are taken, and so counted: a filter of as many bytes as filters may have is not deeper, as each
// of its levels is two messages of three bytes besides what is in them. Parsing them takes less than 1 MiB of a thread's stack (measured
// with steled under `ulimit -s 1024`).
inline constexpr int kMessageDepthMax = 7'000;

size_t CountParts(std::string_view message, const google::protobuf::Descriptor& type);

}  // namespace stele::server
