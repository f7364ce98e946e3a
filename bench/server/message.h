// server/message.h: gRPC's messages as bytes, and its status as text.
//
// Format:    each message stands behind a prefix of five bytes: 0 (not compressed), and how many bytes it has, the highest first.
// Threads:   pure functions.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace stele_load {

// The message behind its prefix.
std::string Serialised(const google::protobuf::MessageLite& message);

// The messages in `bytes`, without their prefixes, pointing into them. Nothing: the bytes end within one, or one is compressed, which
// nobody asked for.
std::optional<std::vector<std::string_view>> MessagesOf(std::string_view bytes);

// False: these are not the bytes of such a message.
bool Parse(std::string_view bytes, google::protobuf::MessageLite* message);

// From the headers grpc-status and grpc-message. What is no code of gRPC is Unknown.
absl::Status GrpcStatus(std::string_view code, std::string_view percent_encoded_message);

}  // namespace stele_load
