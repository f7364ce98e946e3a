// bench/server/message.h: converts gRPC messages to bytes, and gRPC's status from text.
//
// Format:    A prefix of five bytes comes before each message: 0 (not compressed), and the length
//            as a big-endian u32.
// Threads:   Pure functions.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace stele_load {

// Returns the message with its prefix.
std::string Serialised(const google::protobuf::MessageLite& message);

// Returns the messages in `bytes` without their prefixes, as views. Returns nothing if the bytes
// end inside a message or if a message is compressed, which no request allowed.
std::optional<std::vector<std::string_view>> MessagesOf(std::string_view bytes);

// Returns false if the bytes are not such a message.
bool Parse(std::string_view bytes, google::protobuf::MessageLite* message);

// Converts the headers grpc-status and grpc-message. A code that gRPC does not define becomes
// Unknown.
absl::Status GrpcStatus(std::string_view code, std::string_view percent_encoded_message);

}  // namespace stele_load
