// steled/rpc/message_writer.h: serializes the messages that a call sends.
//
// Used by:   the methods of services, and steled/rpc/method_table.cc for their responses.
// Calls:     steled/transport/calls/call.h (Send).
// Threads:   confined to its call.
// Cost:      a message is serialized once, to the buffer that is sent.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <utility>

#include "steled/transport/calls/call.h"

namespace stele::server {

// Serializes the message after kPrefixBytes free bytes. Returns nullopt if the message is above 2
// GiB, which protobuf cannot serialize.
inline std::optional<std::string> Framed(const google::protobuf::MessageLite& message) {
  std::string framed(kPrefixBytes, '\0');
  if (!message.AppendToString(&framed)) return std::nullopt;
  return framed;
}

// The responses of a streaming call.
template <typename Message>
class MessageWriter {
 public:
  explicit MessageWriter(Call* call) : call_(*call) {}

  // Sends a message. Waits while the client has not read enough of the previous messages. Returns
  // false if no client listens any more.
  bool Write(const Message& message) { return Send(message, /*is_last=*/false); }
  // The same for the last message. It is sent together with the status that the method then
  // returns, which saves a packet.
  bool WriteLast(const Message& message) { return Send(message, /*is_last=*/true); }

 private:
  bool Send(const Message& message, bool is_last) {
    std::optional<std::string> framed = Framed(message);
    return framed.has_value() && call_.Send(*std::move(framed), is_last);
  }

  Call& call_;
};

}  // namespace stele::server
